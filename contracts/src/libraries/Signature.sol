// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title One canonical form of an ECDSA signature
library Signature {
    /// @dev Half the order of secp256k1; a larger s is the mirror image of a smaller one.
    uint256 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;
    uint256 internal constant LENGTH = 65;

    /// @notice The account that signed `digest`, or zero for anything but 65 bytes r, s, v with low s and v 27 or 28.
    function recover(bytes32 digest, bytes calldata signature) internal view returns (address signer) {
        assembly ("memory-safe") {
            let isCanonical :=
                and(eq(signature.length, LENGTH), iszero(gt(calldataload(add(signature.offset, 0x20)), MAX_S)))
            if isCanonical {
                let free := mload(0x40)
                mstore(free, digest)
                mstore(add(free, 0x20), byte(0, calldataload(add(signature.offset, 0x40))))
                calldatacopy(add(free, 0x40), signature.offset, 0x40)
                // The precompile answers nothing when v is neither 27 nor 28 or there is no such signer: the word stays
                // zero.
                mstore(0, 0)
                pop(staticcall(gas(), 1, free, 0x80, 0, 0x20))
                signer := mload(0)
            }
        }
    }
}
