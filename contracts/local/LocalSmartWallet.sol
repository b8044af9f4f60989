// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A smart account of one key (EIP-1271); accounts of keys can delegate to it, too (EIP-7702).
contract LocalSmartWallet {
    address private immutable OWNER;

    constructor(address owner) {
        OWNER = owner;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer == OWNER ? LocalSmartWallet.isValidSignature.selector : bytes4(0xffffffff);
    }
}
