// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title An order's own deposit address
/// @notice A minimal proxy (ERC-1167) that the gateway puts at `receiverOf(orderId)` when money is moved out of it for
/// the first time. Whatever anyone sends there, before or after, only the gateway can move, and the gateway moves it
/// only into the order (`collect`) or to the order's payer (`rescue`).
interface IDepositReceiver {
    /// @notice The caller is not the gateway.
    error NotGateway(address caller);
    /// @notice The recipient refused the chain's own coin.
    error CoinRefused(address to);

    /// @notice Sends `amount` of `token` to `to`; reverts unless the token says that it did. Gateway only.
    /// @param token The token, or zero for the chain's own coin.
    function forward(address token, address to, uint256 amount) external;
}
