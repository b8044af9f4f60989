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

    bytes4 private constant TRANSFER = IERC20.transfer.selector;
    bytes4 private constant BALANCE_OF = IERC20.balanceOf.selector;
    /// @dev `transferFrom` and `balanceOf` as numbers, which assembly can name: at the end of a word, so that a call
    /// starts at 0x1c.
    uint256 private constant TRANSFER_FROM_NUMBER = 0x23b872dd;
    uint256 private constant BALANCE_OF_NUMBER = 0x70a08231;

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
        if (!_transfer(token, gasleft(), to, amount)) revert TransferFailed(token);
    }

    /// @notice As `send`, and reverts unless exactly `amount` arrives.
    function sendExact(address token, address to, uint256 amount) internal {
        uint256 held = balanceOf(token, to);
        send(token, to, amount);
        requireReceived(token, to, held, amount);
    }

    /// @notice As `send`, but answers false where that reverts, and spends no more than `TRANSFER_GAS`.
    function trySend(address token, address to, uint256 amount) internal returns (bool done) {
        uint256 gasBefore = gasleft();
        done = _transfer(token, TRANSFER_GAS, to, amount);
        if (!done) _requireGasWas(gasBefore, TRANSFER_GAS);
    }

    /// @notice Lets `spender` take `amount`; answers false when the token refuses, and spends no more than
    /// `TRANSFER_GAS`.
    function tryApprove(address token, address spender, uint256 amount) internal returns (bool) {
        return tryCall(token, TRANSFER_GAS, abi.encodeCall(IERC20.approve, (spender, amount)));
    }

    /// @notice Moves `amount` from the caller to `to`; reverts unless exactly that arrives.
    /// @dev What every payment out of an allowance runs, so by hand: through the functions below it costs 500 gas more.
    /// All answers are judged at once, because a revert undoes whatever came before it. The upper bits of an address must
    /// be clean.
    function pullExact(address token, address to, uint256 amount) internal {
        uint256 held;
        uint256 left;
        bool known;
        bool moved;
        bool exact;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(0, BALANCE_OF_NUMBER)
            mstore(0x20, to)
            // Arguments are evaluated from the last to the first: the call comes before the size of its answer.
            known := and(gt(returndatasize(), 0x1f), staticcall(gas(), token, 0x1c, 0x24, 0, 0x20))
            held := mload(0)

            mstore(0, TRANSFER_FROM_NUMBER)
            mstore(0x20, caller())
            mstore(0x40, to)
            mstore(0x60, amount)
            moved := call(gas(), token, 0, 0x1c, 0x64, 0, 0x20)
            // An answer that is shorter than a word leaves the end of the selector there, so it cannot make the word 1.
            // That the token has code is known when it has told the balance.
            if iszero(eq(mload(0), 1)) { moved := and(moved, iszero(returndatasize())) }

            mstore(0, BALANCE_OF_NUMBER)
            mstore(0x20, to)
            known := and(known, and(gt(returndatasize(), 0x1f), staticcall(gas(), token, 0x1c, 0x24, 0, 0x20)))
            left := mload(0)
            mstore(0x40, free)
            mstore(0x60, 0)
            exact := and(and(known, moved), and(eq(sub(left, held), amount), iszero(lt(left, held))))
        }
        if (!exact) refuse(token, known, moved, held, left, amount);
    }

    /// @notice Reverts with what is wrong with a transfer of `amount` to someone whose balance was `held` and is `left`.
    /// @param known Whether the token told both balances.
    /// @param moved Whether the token says that it moved the amount.
    function refuse(address token, bool known, bool moved, uint256 held, uint256 left, uint256 amount) internal pure {
        if (!known) revert BalanceUnavailable(token);
        if (!moved) revert TransferFailed(token);
        revert InexactTransfer(token, amount, left < held ? 0 : left - held);
    }

    /// @notice Reverts unless `owner` has exactly `amount` more than `balanceBefore`.
    function requireReceived(address token, address owner, uint256 balanceBefore, uint256 amount) internal view {
        uint256 balanceAfter = balanceOf(token, owner);
        unchecked {
            uint256 received = balanceAfter - balanceBefore;
            if (balanceAfter < balanceBefore) revert InexactTransfer(token, amount, 0);
            if (received != amount) revert InexactTransfer(token, amount, received);
        }
    }

    /// @notice The token's balance of `owner`.
    function balanceOf(address token, address owner) internal view returns (uint256 amount) {
        bytes4 selector = BALANCE_OF;
        bool answered;
        assembly ("memory-safe") {
            mstore(0, selector)
            mstore(0x04, shr(96, shl(96, owner)))
            answered := staticcall(gas(), token, 0, 0x24, 0, 0x20)
            answered := and(answered, gt(returndatasize(), 0x1f))
            amount := mload(0)
        }
        if (!answered) revert BalanceUnavailable(token);
    }

    /// @notice As `call`, with a bound on its gas.
    function tryCall(address token, uint256 gasLimit, bytes memory data) internal returns (bool done) {
        uint256 gasBefore = gasleft();
        done = call(token, gasLimit, data);
        if (!done) _requireGasWas(gasBefore, gasLimit);
    }

    /// @notice Calls a token; answers whether it did what it was asked to.
    function call(address token, uint256 gasLimit, bytes memory data) internal returns (bool done) {
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

    /// @dev A failure counts only when the callee had all of `gasLimit`; with less the whole call reverts instead.
    function _requireGasWas(uint256 gasBefore, uint256 gasLimit) private pure {
        // What the 63/64 rule lets through, less the price of reaching a cold account.
        if (gasBefore - gasBefore / 64 < gasLimit + 3_000) revert InsufficientGas();
    }

    /// @dev `call` with `transfer(to, amount)`, without allocating: 250 gas less.
    function _transfer(address token, uint256 gasLimit, address to, uint256 amount) private returns (bool done) {
        bytes4 selector = TRANSFER;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, selector)
            mstore(add(free, 0x04), shr(96, shl(96, to)))
            mstore(add(free, 0x24), amount)
            mstore(0, 0)
            done := call(gasLimit, token, 0, free, 0x44, 0, 0x20)
            if done {
                switch returndatasize()
                case 0 { done := iszero(iszero(extcodesize(token))) }
                default { done := eq(mload(0), 1) }
            }
        }
    }
}
