// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title EIP-712 domain
interface IDomain {
    /// @notice Hash of name, version "1", chain and contract, under which everything here is signed.
    function domainSeparator() external view returns (bytes32);
}
