/* The fill rules of Backtest/compiled/kernel.py for what the works ask: market entries at the next open, one
   position, a stop and a target by fraction, an exit rule, commission, a size by equity. */
#include <math.h>
#include <stdint.h>

int64_t play(int64_t bars, const double *o, const double *h, const double *l, const double *c,
             const int8_t *enter, const uint8_t *leave_long, const uint8_t *leave_short,
             double stop_size, double target_size, double size, double cash, double commission,
             double cost, double *equity_rows, int64_t *whole, double *exact) {
    int64_t rows = 0, numbered = 0, order = 0, position = 0, bar = 0;
    int sign = 0, order_sign = 0, closing = 0;
    double equity = cash, volume = 0, entry = 0, stop = 0, target = 0, order_volume = 0;
    while (bar < bars) {
        if (!sign && !order) {
            while (bar < bars && !enter[bar]) equity_rows[bar++] = equity;
            if (bar == bars) break;
        }
        double op = o[bar], cl = c[bar], placed_volume = 0;
        int wanted = enter[bar];
        int64_t placed = 0;
        if (wanted && !(wanted > 0 ? leave_long[bar] : leave_short[bar])) {
            placed_volume = size * equity / cl;
            if (placed_volume > 0) placed = ++numbered;
        }
#define LEAVE(rule, raw, market) do { \
        double raw_ = (raw), price_ = (market) ? (sign < 0 ? raw_ * (1 + cost) : raw_ * (1 - cost)) : raw_; \
        double fee_ = volume * price_ * commission; \
        cash += sign > 0 ? volume * price_ - fee_ : volume * (2 * entry - price_) - fee_; \
        int64_t *w = whole + 5 * rows; double *x = exact + 5 * rows; \
        w[0] = 1; w[1] = bar; w[2] = position; w[3] = sign; w[4] = (rule); \
        x[0] = volume; x[1] = raw_; x[2] = price_; x[3] = NAN; x[4] = cash; rows++; sign = 0; } while (0)
        if (sign && closing) { LEAVE(0, op, 1); closing = 0; }
        if (order) {
            double price = order_sign > 0 ? op * (1 + cost) : op * (1 - cost);
            double notional = order_volume * price, needed = notional + notional * commission;
            int64_t *w = whole + 5 * rows; double *x = exact + 5 * rows;
            w[0] = 4;
            if (needed <= cash * (1.0 + 1e-9)) {
                w[0] = 0; cash -= needed;
                sign = order_sign; position = order; volume = order_volume; entry = price;
                stop = sign * (entry - sign * (stop_size * entry));
                target = sign * (entry + sign * (target_size * entry));
                closing = 0;
            }
            w[1] = bar; w[2] = order; w[3] = order_sign; w[4] = 0;
            x[0] = order_volume; x[1] = op; x[2] = price; x[3] = NAN; x[4] = cash; rows++;
            order = 0;
        }
        if (sign) {
            double so = sign > 0 ? op : -op, sh = sign > 0 ? h[bar] : -l[bar];
            double sl = sign > 0 ? l[bar] : -h[bar];
            if (sl <= stop || sh >= target) {
                if (so <= stop) LEAVE(2, sign * so, 1);
                else if (so >= target) LEAVE(6, sign * so, 0);
                else if (sl <= stop) LEAVE(1, sign * stop, 1);
                else LEAVE(5, sign * target, 0);
            }
        }
        if (placed && !sign) {
            order = placed; order_sign = wanted > 0 ? 1 : -1; order_volume = placed_volume;
        }
        if (sign && (sign > 0 ? leave_long[bar] : leave_short[bar])) closing = (int)++numbered;
        equity = sign > 0 ? cash + volume * cl : sign < 0 ? cash + volume * (2 * entry - cl) : cash;
        equity_rows[bar++] = equity;
    }
    return rows;
}
