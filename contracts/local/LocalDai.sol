// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalPermit} from "./LocalPermit.sol";

/// @title An 18-decimals stablecoin for development chains
/// @notice Plain ERC-20 with EIP-2612 permit (the standard one, not DAI's own of `allowed` and `expiry`).
contract LocalDai is LocalPermit {
    string public name;
    string public symbol;
    string public constant version = "1";
    uint8 public constant decimals = 18;
    address public immutable minter;
    uint256 public totalSupply;

    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, address minter_) LocalPermit(name_, "1") {
        (name, symbol, minter) = (name_, symbol_, minter_);
    }

    function mint(address to, uint256 amount) external returns (bool) {
        require(msg.sender == minter, "caller is not the minter");
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        _setAllowance(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "insufficient allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    function _transfer(address from, address to, uint256 value) private {
        require(value <= balanceOf[from], "insufficient balance");
        unchecked {
            balanceOf[from] -= value;
            balanceOf[to] += value;
        }
        emit Transfer(from, to, value);
    }

    function _setAllowance(address owner, address spender, uint256 value) internal override {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }
}
