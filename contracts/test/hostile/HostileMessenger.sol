// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../../src/interfaces/IERC20.sol";
import {ITokenMessengerV2} from "../../src/interfaces/ITokenMessengerV2.sol";

/// @notice Takes less than it should, sends tokens back, or calls somebody on the way.
contract HostileMessenger is ITokenMessengerV2 {
    uint256 private _taken;
    uint256 private _gift;
    address private _target;
    bytes private _data;

    function setTaken(uint256 taken) external {
        _taken = taken;
    }

    function setGift(uint256 gift) external {
        _gift = gift;
    }

    function setInner(address target, bytes calldata data) external {
        (_target, _data) = (target, data);
    }

    function depositForBurnWithHook(
        uint256,
        uint32,
        bytes32,
        address burnToken,
        bytes32,
        uint256,
        uint32,
        bytes calldata
    ) external {
        if (_taken != 0) IERC20(burnToken).transferFrom(msg.sender, address(this), _taken);
        if (_gift != 0) IERC20(burnToken).transfer(msg.sender, _gift);
        if (_target == address(0)) return;
        (bool success, bytes memory answer) = _target.call(_data);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
    }
}

/// @notice A token that moves and never approves.
contract OddApproval {
    mapping(address owner => uint256) public balanceOf;

    function give(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function approve(address, uint256) external pure returns (bool) {
        return false;
    }
}
