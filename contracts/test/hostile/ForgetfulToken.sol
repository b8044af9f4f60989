// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Moves tokens honestly, and does not tell balances before or after a move.
contract ForgetfulToken {
    enum Answer {
        Reverts,
        Nothing,
        Short
    }

    Answer private immutable ANSWER;
    /// @dev From this move on it tells nothing: 0 at once, 1 after the first.
    uint256 private immutable FORGETS_AT;
    uint256 private _moves;
    mapping(address owner => uint256) private _balances;

    constructor(Answer answer, uint256 forgetsAt, address owner, uint256 amount) {
        (ANSWER, FORGETS_AT) = (answer, forgetsAt);
        _balances[owner] = amount;
    }

    function balanceOf(address owner) external view returns (uint256) {
        if (_moves < FORGETS_AT) return _balances[owner];
        if (ANSWER == Answer.Reverts) revert("forgotten");
        uint256 size = ANSWER == Answer.Short ? 31 : 0;
        assembly ("memory-safe") {
            mstore(0, 0)
            return(0, size)
        }
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        return _move(from, to, amount);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        uint8,
        bytes32,
        bytes32
    ) external returns (bool) {
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        ++_moves;
        _balances[from] -= amount;
        _balances[to] += amount;
        return true;
    }
}
