"""Lists the names that Freqtrade's IStrategy has for itself; a test compares the installed one."""

# fmt: off
RESERVED = frozenset({
    "adjust_entry_price", "adjust_exit_price", "adjust_order_price", "adjust_trade_position",
    "advise_all_indicators", "advise_entry", "advise_exit", "advise_indicators", "analyze",
    "analyze_pair", "analyze_ticker", "bot_loop_start", "bot_start", "buy_params", "can_short",
    "check_buy_timeout", "check_entry_timeout", "check_exit_timeout", "check_sell_timeout",
    "config", "confirm_trade_entry", "confirm_trade_exit", "custom_entry_price", "custom_exit",
    "custom_exit_price", "custom_roi", "custom_sell", "custom_stake_amount", "custom_stoploss",
    "disable_dataframe_checks", "dp", "enumerate_parameters", "exit_profit_offset",
    "exit_profit_only", "feature_engineering_expand_all", "feature_engineering_expand_basic",
    "feature_engineering_standard", "freqai", "freqai_info", "gather_informative_pairs",
    "get_entry_signal", "get_exit_signal", "get_latest_candle", "get_no_optimize_params",
    "get_strategy_name", "ignore_buying_expired_candle_after", "ignore_expired_candle",
    "ignore_roi_if_entry_signal", "informative_pairs", "is_pair_locked", "leverage",
    "load_params_from_file", "lock_pair", "market_direction", "max_entry_position_adjustment",
    "max_open_trades", "min_roi_reached", "min_roi_reached_entry", "minimal_roi", "order_filled",
    "order_time_in_force", "order_types", "plot_annotations", "plot_config",
    "populate_any_indicators", "populate_buy_trend", "populate_entry_trend", "populate_exit_trend",
    "populate_indicators", "populate_sell_trend", "position_adjustment_enable",
    "process_only_new_candles", "protections", "sell_params", "set_freqai_targets", "should_exit",
    "stake_amount", "stake_currency", "startup_candle_count", "stoploss", "timeframe",
    "timeframe_detail", "trailing_only_offset_is_reached", "trailing_stop",
    "trailing_stop_positive", "trailing_stop_positive_offset", "unfilledtimeout", "unlock_pair",
    "unlock_reason", "use_custom_roi", "use_custom_stoploss", "use_exit_signal", "version",
    "wallets",
})
# fmt: on
