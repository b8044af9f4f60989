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

    receive() external payable {
        onTransfer(address(0), address(0), 0);
    }

    function onTransfer(address, address, uint256) public {
        if (called) return;
        called = true;
        bytes memory answer;
        (succeeded, answer) = _target.call(_data);
        if (answer.length >= 4) failure = bytes4(answer);
    }
}

/// @notice An EIP-1271 wallet of one key, which does not mind bytes after the signature.
contract KeyedWallet {
    address private immutable OWNER;

    constructor(address owner) {
        OWNER = owner;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer == OWNER ? KeyedWallet.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @notice As WETH: whatever is called, nothing fails and nothing happens; balances are always zero.
contract SilentFallback {
    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    fallback() external {}
}
