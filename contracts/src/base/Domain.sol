// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDomain} from "../interfaces/IDomain.sol";

/// @title EIP-712 domain
/// @dev The separator is computed each time: nothing in the code depends on the chain.
abstract contract Domain is IDomain {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant VERSION_HASH = keccak256("1");

    bytes32 private immutable NAME_HASH;

    constructor(string memory name) {
        NAME_HASH = keccak256(bytes(name));
    }

    /// @inheritdoc IDomain
    function domainSeparator() public view returns (bytes32) {
        return _separatorOn(block.chainid);
    }

    /// @dev The separator of the contract that has this address on chain `chainId`. `keccak256(abi.encode(…))` costs 130 gas
    /// more, for each payment.
    function _separatorOn(uint256 chainId) internal view returns (bytes32 separator) {
        (bytes32 typeHash, bytes32 nameHash, bytes32 versionHash) = (DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH);
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typeHash)
            mstore(add(free, 0x20), nameHash)
            mstore(add(free, 0x40), versionHash)
            mstore(add(free, 0x60), chainId)
            mstore(add(free, 0x80), address())
            separator := keccak256(free, 0xa0)
        }
    }

    /// @dev `keccak256(abi.encodePacked(hex"1901", separator, structHash))` costs 150 gas more, for each order of a batch.
    function _digest(bytes32 separator, bytes32 structHash) internal pure returns (bytes32 digest) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, hex"1901")
            mstore(add(free, 0x02), separator)
            mstore(add(free, 0x22), structHash)
            digest := keccak256(free, 0x42)
        }
    }
}
