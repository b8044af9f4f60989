// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title EIP-712 domain and EIP-2612 permit of the local test tokens
/// @dev For development chains only. Nothing here is audited or meant to hold value.
abstract contract LocalPermit {
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    uint256 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    mapping(address owner => uint256) public nonces;
    bytes32 private immutable NAME_HASH;
    bytes32 private immutable VERSION_HASH;

    constructor(string memory name_, string memory version_) {
        NAME_HASH = keccak256(bytes(name_));
        VERSION_HASH = keccak256(bytes(version_));
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        require(block.timestamp <= deadline, "permit is expired");
        bytes32 structHash = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner]++, deadline));
        _requireSignature(owner, structHash, v, r, s);
        _setAllowance(owner, spender, value);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                NAME_HASH,
                VERSION_HASH,
                block.chainid,
                address(this)
            )
        );
    }

    function _setAllowance(address owner, address spender, uint256 value) internal virtual;

    function _requireSignature(address signer, bytes32 structHash, uint8 v, bytes32 r, bytes32 s) internal view {
        require(uint256(s) <= MAX_S && (v == 27 || v == 28), "invalid signature");
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash));
        require(signer != address(0) && ecrecover(digest, v, r, s) == signer, "invalid signature");
    }
}
