// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What some tokens take instead of an approval
/// @dev EIP-3009 is not here: its function has two forms of one name, and `SignedTransfer` writes both out.
interface ISignedTransfer {
    /// @notice EIP-2612.
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
}
