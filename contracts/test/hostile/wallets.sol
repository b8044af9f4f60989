// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITransferHook} from "./HostileToken.sol";

/// @notice A wallet contract without any key, as an EIP-1271 account is to the gateway; also the code that an
/// EIP-7702 account delegates to.
contract Wallet {
    function execute(address target, bytes calldata data) external returns (bytes memory) {
        (bool success, bytes memory answer) = target.call(data);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        return answer;
    }
}

/// @notice Calls back during a transfer, once, and remembers how that ended.
contract ReentrantWallet is Wallet, ITransferHook {
    address private _target;
    bytes private _data;
    bool public called;
    bool public succeeded;
    bytes4 public failure;

    function arm(address target, bytes calldata data) external {
        (_target, _data, called) = (target, data, false);
    }

    function onTransfer(address, address, uint256) external {
        if (called) return;
        called = true;
        bytes memory answer;
        (succeeded, answer) = _target.call(_data);
        if (answer.length >= 4) failure = bytes4(answer);
    }
}
