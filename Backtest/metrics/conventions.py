"""Says in words, for every report, how the broker fills and how its figures are counted."""

FILL_CONVENTIONS = {
    "timing": "an order placed after n bars fills from bar n + 1 on (bars count from 0), a close"
    " asked for after n bars at the open of bar n; under this_close both fill at the close of the"
    " decision bar and stops count from the bar after",
    "stop": "the open if the bar opens beyond it, else its level; slippage and half the spread"
    " come on top; stops and targets given as distances count from the fill price",
    "limit": "limits, targets and ROI fill at their price or at a better open, without slippage"
    " or spread",
    "ambiguous": "stop and target in one bar: the stop is taken and the trade is marked; the"
    " profit band shows the best reading beside it",
    "entered_inside_a_bar": "after a limit fill the bar's far extreme counts as a target only if"
    " the close proves it; after a stop fill a low beyond the stop counts as stopped, marked"
    " ambiguous unless the close proves it",
    "trailing": "follows the best extreme of completed bars since the entry and never loosens;"
    " activate_at is a fraction of the entry price, before costs",
    "roi": "the largest key not above the minutes since the entry candle's open, net of both"
    " commissions",
    "exit_at_open": "a close that was asked for fills at the open before stops and targets are"
    " looked at",
    "costs": "commission is a fraction of the value of each fill; market and stop fills pay"
    " slippage plus half of the full bid-ask spread",
    "tick": "levels trigger at their exact price and fills round to the tick against the trader;"
    " the price of a LIMIT order moves to the tick that is no worse for it",
    "lot": "a volume that is no multiple of the lot is refused, never rounded by the broker",
    "cash": "entries need their whole value and commission in cash, shorts as collateral; too"
    " little cash or a value below min_notional rejects the order, it is never shrunk",
    "liquidation": "a short's collateral is its value at the entry; once buying it back would cost"
    " all of it, costs included, the position is liquidated, before a stop further away and before"
    " a close at the open. It loses its collateral and no more, also where a bar opens beyond: its"
    " exit price is the one at which nothing is left, so equity is never below 0",
    "end_of_data": "open positions are shown as forced exits at the last close and kept out of the"
    " statistics; equity values them at the last close",
}

METRIC_CONVENTIONS = {
    "statistics": "trades closed before the end of the data; each partial close is a trade; forced"
    " exits are listed, not counted; one that comes out even to the 12th digit has not won or lost",
    "ratios": "from returns between rows of equity_curve.csv, no risk-free rate, sample deviation;"
    " sortino divides by the root mean square of negative returns over all rows",
    "annualised": "by the calendar: years of 365.25 days from the first row to the last;"
    " annual_return compounds over them, the periods a year of ratios are the rows over them",
    "drawdown": "positive fraction below the highest equity so far, the capital included",
    "exposure": "share of rows at whose close a position was open",
    "turnover": "value of all fills, entries and exits, over the mean equity",
    "cost_share": "commission, slippage, spread and ticks over the profit before them",
    "break_even_cost_bps": "cost of each side, in bps of its value, at which the profit is zero",
    "buy_and_hold": "the capital in equal parts, bought at each symbol's first open, valued at its"
    " last close, no costs",
}
