// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice What could come after USDT: it obeys the contract that it replaces, and knows the balances that it was told.
contract UpgradedUsdt {
    address private immutable LEGACY;
    uint256 public totalSupply;
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    constructor(address legacy) {
        LEGACY = legacy;
    }

    modifier onlyLegacy() {
        require(msg.sender == LEGACY, "not the legacy contract");
        _;
    }

    /// @notice A holder's balance of before.
    function take(address owner, uint256 amount) external {
        totalSupply += amount;
        balanceOf[owner] += amount;
    }

    function transferByLegacy(address from, address to, uint256 value) external onlyLegacy {
        _move(from, to, value);
    }

    function transferFromByLegacy(address sender, address from, address to, uint256 value) external onlyLegacy {
        allowance[from][sender] -= value;
        _move(from, to, value);
    }

    function approveByLegacy(address from, address spender, uint256 value) external onlyLegacy {
        allowance[from][spender] = value;
    }

    function _move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}
