// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDomain} from "../interfaces/IDomain.sol";

/// @title EIP-712 domain
/// @dev The separator is kept for the chain of deployment and computed anew on a fork that changes its chain id.
abstract contract Domain is IDomain {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    bytes32 private immutable NAME_HASH;
    bytes32 private immutable CACHED_SEPARATOR;
    uint256 private immutable CACHED_CHAIN;

    constructor(string memory name) {
        NAME_HASH = keccak256(bytes(name));
        CACHED_SEPARATOR = _separator(keccak256(bytes(name)), block.chainid);
        CACHED_CHAIN = block.chainid;
    }

    /// @inheritdoc IDomain
    function domainSeparator() public view returns (bytes32) {
        return _separatorOf(block.chainid);
    }

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        return _digestOn(block.chainid, structHash);
    }

    /// @dev As `_digest`, for the contract that has this address on chain `chainId`.
    /// `keccak256(abi.encodePacked(hex"1901", separator, structHash))` costs 150 gas more, for each order of a batch.
    function _digestOn(uint256 chainId, bytes32 structHash) internal view returns (bytes32 digest) {
        bytes32 separator = _separatorOf(chainId);
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, hex"1901")
            mstore(add(free, 0x02), separator)
            mstore(add(free, 0x22), structHash)
            digest := keccak256(free, 0x42)
        }
    }

    function _separatorOf(uint256 chainId) private view returns (bytes32) {
        return chainId == CACHED_CHAIN ? CACHED_SEPARATOR : _separator(NAME_HASH, chainId);
    }

    function _separator(bytes32 nameHash, uint256 chainId) private view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, nameHash, keccak256("1"), chainId, address(this)));
    }
}
