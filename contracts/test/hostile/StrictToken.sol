// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Takes no call that is longer or shorter than the standards say, and answers each with a second word, which
/// means nothing.
contract StrictToken {
    mapping(address owner => uint256) private _balances;

    modifier ofWords(uint256 count) {
        require(msg.data.length == 4 + 32 * count, "not the standard's call");
        _;
    }

    function mint(address to, uint256 amount) external ofWords(2) returns (bool) {
        _balances[to] += amount;
        return true;
    }

    function balanceOf(address owner) external view ofWords(1) returns (uint256) {
        _answer(_balances[owner]);
    }

    function transfer(address to, uint256 amount) external ofWords(2) returns (bool) {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external ofWords(3) returns (bool) {
        _move(from, to, amount);
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
    ) external ofWords(9) returns (bool) {
        _move(from, to, value);
    }

    function _move(address from, address to, uint256 amount) private {
        _balances[from] -= amount;
        _balances[to] += amount;
        _answer(1);
    }

    function _answer(uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(0, word)
            mstore(0x20, not(0))
            return(0, 0x40)
        }
    }
}
