// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What the gateway asks of a route through Circle's CCTP
interface ICctpRoute {
    /// @notice Takes exactly `amount` of `token` out of the caller's allowance and burns it, so that the same amount is
    /// minted to `to` on `targetChain`. Reverts, and so changes nothing, when it cannot. Answers nothing.
    /// @dev The gateway has approved exactly `amount` just before. It checks that its balance fell by `amount`, and
    /// takes the approval back when the call fails. It also takes an answer other than true as a refusal, after which its
    /// balance must be the same. The call has 500,000 gas.
    /// @param orderId The order that is settled; each comes once, unless an earlier call for it reverted.
    /// @param token The token to burn.
    /// @param amount In the token's own units, never zero.
    /// @param targetChain Chain id (EIP-155) of the recipient's chain; never this chain's.
    /// @param to The recipient on the target chain.
    function send(bytes32 orderId, address token, uint256 amount, uint64 targetChain, address to) external;
}
