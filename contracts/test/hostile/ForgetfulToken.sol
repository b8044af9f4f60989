// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Moves tokens honestly, and does not tell balances for a while: before a move, after it, or both.
contract ForgetfulToken {
    enum Answer {
        Reverts,
        Nothing,
        Short
    }

    Answer private immutable ANSWER;
    /// @dev From this move on it tells nothing: 0 at once, 1 after the first. From the other one on it tells again.
    uint256 private immutable FORGETS_AT;
    uint256 private immutable RECALLS_AT;
    uint256 private _moves;
    mapping(address owner => uint256) private _balances;

    constructor(Answer answer, uint256 forgetsAt, uint256 recallsAt, address owner, uint256 amount) {
        (ANSWER, FORGETS_AT, RECALLS_AT) = (answer, forgetsAt, recallsAt);
        _balances[owner] = amount;
    }

    function mint(address to, uint256 amount) external returns (bool) {
        _balances[to] += amount;
        return true;
    }

    function balanceOf(address owner) external view returns (uint256) {
        if (_moves < FORGETS_AT || _moves >= RECALLS_AT) return _balances[owner];
        if (ANSWER == Answer.Reverts) revert("forgotten");
        uint256 size = ANSWER == Answer.Short ? 31 : 0;
        assembly ("memory-safe") {
            mstore(0, 0)
            return(0, size)
        }
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
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
