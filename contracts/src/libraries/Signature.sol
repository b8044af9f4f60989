// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title One canonical form of an ECDSA signature
library Signature {
    /// @dev Half the order of secp256k1; a larger s is the mirror image of a smaller one.
    uint256 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;
    uint256 internal constant LENGTH = 65;

    /// @notice The account that signed `digest`, or zero for anything but 65 bytes r, s, v with low s and v 27 or 28.
    function recover(bytes32 digest, bytes calldata signature) internal pure returns (address) {
        if (signature.length != LENGTH) return address(0);
        (bytes32 r, bytes32 s, uint8 v) = split(signature);
        return uint256(s) > MAX_S ? address(0) : ecrecover(digest, v, r, s);
    }

    /// @notice The parts of 65 bytes r, s, v. Reads past the end of a shorter signature: check the length first.
    /// @dev In assembly, because slices of the calldata cost 130 gas more, for each payment with a signature.
    function split(bytes calldata signature) internal pure returns (bytes32 r, bytes32 s, uint8 v) {
        assembly ("memory-safe") {
            r := calldataload(signature.offset)
            s := calldataload(add(signature.offset, 0x20))
            v := byte(0, calldataload(add(signature.offset, 0x40)))
        }
    }
}
