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
    error InexactTransfer(address token, uint256 expected, uint256 received);
    /// @notice The token does not answer `balanceOf`.
    error BalanceUnavailable(address token);
    /// @notice A transfer failed, and the call had too little gas left to tell why.
    error InsufficientGas();

    /// @notice Sends `amount` from this contract to `to`; reverts unless the token says that it did.
    function send(address token, address to, uint256 amount) internal {
        if (!_call(token, gasleft(), abi.encodeCall(IERC20.transfer, (to, amount)))) revert TransferFailed(token);
    }

    /// @notice As `send`, but answers false where that reverts, and spends no more than `TRANSFER_GAS`.
    /// @dev A failure counts only when the token had the whole `TRANSFER_GAS`; with less the call reverts instead.
    function trySend(address token, address to, uint256 amount) internal returns (bool done) {
        bytes memory data = abi.encodeCall(IERC20.transfer, (to, amount));
        uint256 gasBefore = gasleft();
        done = _call(token, TRANSFER_GAS, data);
        // What the 63/64 rule lets through, less the price of reaching a cold account.
        if (!done && gasBefore - gasBefore / 64 < TRANSFER_GAS + 3_000) revert InsufficientGas();
    }

    /// @notice Moves `amount` from `from` to `to`; reverts unless exactly that arrives.
    function pullExact(address token, address from, address to, uint256 amount) internal {
        uint256 balanceBefore = balanceOf(token, to);
        if (!_call(token, gasleft(), abi.encodeCall(IERC20.transferFrom, (from, to, amount)))) {
            revert TransferFailed(token);
        }
        uint256 balanceAfter = balanceOf(token, to);
        uint256 received = balanceAfter < balanceBefore ? 0 : balanceAfter - balanceBefore;
        if (received != amount) revert InexactTransfer(token, amount, received);
    }

    /// @notice The token's balance of `owner`.
    function balanceOf(address token, address owner) internal view returns (uint256 amount) {
        bytes memory data = abi.encodeCall(IERC20.balanceOf, (owner));
        bool answered;
        assembly ("memory-safe") {
            answered := staticcall(gas(), token, add(data, 0x20), mload(data), 0, 0x20)
            answered := and(answered, gt(returndatasize(), 0x1f))
            amount := mload(0)
        }
        if (!answered) revert BalanceUnavailable(token);
    }

    function _call(address token, uint256 gasLimit, bytes memory data) private returns (bool done) {
        assembly ("memory-safe") {
            mstore(0, 0)
            done := call(gasLimit, token, 0, add(data, 0x20), mload(data), 0, 0x20)
            if done {
                switch returndatasize()
                case 0 { done := iszero(iszero(extcodesize(token))) }
                // The word was cleared, so an answer that is shorter than a word cannot make it 1.
                default { done := eq(mload(0), 1) }
            }
        }
    }
}
