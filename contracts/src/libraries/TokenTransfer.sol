// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../interfaces/IERC20.sol";

/// @title Moving ERC-20 tokens without trusting them
/// @dev A transfer counts as done when the call succeeds and answers `true`, or answers nothing and the token has code
/// (USDT). At most one word of the answer is ever copied, so a huge one costs the caller nothing. A token that moves
/// tokens and answers `false` is past help, and endangers whatever else is held in it.
library TokenTransfer {
    /// @dev Most gas that one transfer of a batch may use. USDC behind its proxy needs 45,000 to a new holder.
    uint256 internal constant TRANSFER_GAS = 300_000;

    /// @notice The token refused to move.
    error TransferFailed(address token);
    /// @notice The token moved another amount than it was asked to.
    error InexactTransfer(address token, uint256 expected, uint256 moved);
    /// @notice The token does not answer `balanceOf`.
    error BalanceUnavailable(address token);
    /// @notice A transfer failed, and the call had too little gas left to tell why.
    error InsufficientGas();

    /// @notice Sends `amount` from this contract to `to`; reverts unless the token says that it did.
    function send(address token, address to, uint256 amount) internal {
        if (!call(token, gasleft(), abi.encodeCall(IERC20.transfer, (to, amount)))) revert TransferFailed(token);
    }

    /// @notice As `send`, and reverts unless exactly `amount` arrives.
    function sendExact(address token, address to, uint256 amount) internal {
        if (!trySendExact(token, to, amount)) revert TransferFailed(token);
    }

    /// @notice As `sendExact`, but answers false when the token refuses. Still reverts when another amount moves than the
    /// token says, or when it does not answer `balanceOf`.
    function trySendExact(address token, address to, uint256 amount) internal returns (bool) {
        return _tryExact(token, to, amount, abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    /// @notice As `send`, but answers false when the token refuses, and spends no more than `TRANSFER_GAS`. Reverts when
    /// the token fails with less gas than that.
    function trySend(address token, address to, uint256 amount) internal returns (bool) {
        return tryCall(token, TRANSFER_GAS, abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    /// @notice Lets `spender` take `amount`; answers false when the token refuses, and spends no more than
    /// `TRANSFER_GAS`. Reverts when the token fails with less gas than that.
    function tryApprove(address token, address spender, uint256 amount) internal returns (bool) {
        return tryCall(token, TRANSFER_GAS, abi.encodeCall(IERC20.approve, (spender, amount)));
    }

    /// @notice Moves `amount` from the caller to `to`; reverts unless exactly that arrives.
    function pullExact(address token, address to, uint256 amount) internal {
        if (!tryPullExact(token, to, amount)) revert TransferFailed(token);
    }

    /// @notice As `pullExact`, but answers false when the token refuses. Still reverts when another amount moves than the
    /// token says, or when it does not answer `balanceOf`.
    function tryPullExact(address token, address to, uint256 amount) internal returns (bool) {
        return _tryExact(token, to, amount, abi.encodeCall(IERC20.transferFrom, (msg.sender, to, amount)));
    }

    /// @notice Reverts unless `owner` has exactly `amount` more than `balanceBefore`.
    function requireReceived(address token, address owner, uint256 balanceBefore, uint256 amount) internal view {
        uint256 balanceAfter = balanceOf(token, owner);
        uint256 received;
        unchecked {
            received = balanceAfter - balanceBefore;
        }
        if (received == amount && balanceAfter >= balanceBefore) return;
        revert InexactTransfer(token, amount, balanceAfter < balanceBefore ? 0 : received);
    }

    /// @notice The token's balance of `owner`.
    /// @dev In assembly, so that a token that answers too little or not at all gets a named error. Of an answer that is too
    /// long, the first word counts.
    function balanceOf(address token, address owner) internal view returns (uint256 amount) {
        bytes4 selector = IERC20.balanceOf.selector;
        bool isAnswered;
        assembly ("memory-safe") {
            mstore(0, selector)
            // The compiler leaves the upper bits of an address as they came.
            mstore(0x04, shr(96, shl(96, owner)))
            isAnswered := staticcall(gas(), token, 0, 0x24, 0, 0x20)
            isAnswered := and(isAnswered, gt(returndatasize(), 0x1f))
            amount := mload(0)
        }
        if (!isAnswered) revert BalanceUnavailable(token);
    }

    /// @notice As `call`, with a bound on its gas. Reverts when the call fails and did not have all of `gasLimit`.
    function tryCall(address target, uint256 gasLimit, bytes memory data) internal returns (bool) {
        uint256 gasBefore = gasleft();
        if (call(target, gasLimit, data)) return true;
        // A failure counts only when the callee had all of `gasLimit`: what the 63/64 rule lets through, less the price of
        // reaching a cold account.
        if (gasBefore - gasBefore / 64 < gasLimit + 3_000) revert InsufficientGas();
        return false;
    }

    /// @notice Calls a token, Permit2 or a route; answers whether it did what it was asked to.
    /// @dev In assembly, so that a huge answer is not copied.
    function call(address target, uint256 gasLimit, bytes memory data) internal returns (bool done) {
        assembly ("memory-safe") {
            mstore(0, 0)
            done := call(gasLimit, target, 0, add(data, 0x20), mload(data), 0, 0x20)
            if done {
                switch returndatasize()
                case 0 { done := iszero(iszero(extcodesize(target))) }
                // The word was cleared, so an answer that is shorter than a word cannot make it 1.
                default { done := eq(mload(0), 1) }
            }
        }
    }

    /// @dev Reverts when the token moved another amount than it said: `amount` if it agreed, nothing if it refused.
    function _tryExact(address token, address to, uint256 amount, bytes memory data) private returns (bool done) {
        if (amount == 0) return true;
        uint256 held = balanceOf(token, to);
        done = call(token, gasleft(), data);
        requireReceived(token, to, held, done ? amount : 0);
    }
}
