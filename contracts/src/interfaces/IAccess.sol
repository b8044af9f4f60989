// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Roles that the gateway and the vault share
/// @notice Admin (meant to stand behind a time lock) grants roles; the guardian can only take away: it pauses and it
/// revokes signers and settlers. There is no upgrade and no generic call.
interface IAccess {
    /// @notice The caller holds none of the roles that this function asks for.
    error Unauthorized(address caller);
    /// @notice An address that must name something is zero.
    error ZeroAddress();
    /// @notice The function is paused, or an unpaused contract is unpaused.
    error ContractPaused();
    /// @notice A contract that is not paused cannot be unpaused.
    error ContractNotPaused();
    /// @notice A token's callback called back in.
    error Reentered();

    /// @notice `newAdmin` may now accept the role; until then nothing has changed.
    event AdminTransferStarted(address indexed admin, address indexed newAdmin);
    /// @notice `newAdmin` holds the role.
    event AdminTransferred(address indexed previousAdmin, address indexed newAdmin);
    event GuardianSet(address indexed guardian);
    event SettlerSet(address indexed settler, bool allowed);
    event Paused(address indexed by);
    event Unpaused(address indexed by);

    /// @notice Names the next admin, who has to accept. Admin only. Zero withdraws an earlier offer.
    function transferAdmin(address newAdmin) external;

    /// @notice Takes the admin role that was offered. Pending admin only.
    function acceptAdmin() external;

    /// @notice Replaces the guardian. Admin only. To have none, name the admin.
    function setGuardian(address guardian_) external;

    /// @notice Grants (admin only) or revokes (admin or guardian) the settler role.
    function setSettler(address settler, bool allowed) external;

    /// @notice Stops what the contract's documentation calls pausable. Guardian or admin.
    function pause() external;

    /// @notice Resumes. Admin only.
    function unpause() external;

    function admin() external view returns (address);
    function pendingAdmin() external view returns (address);
    function guardian() external view returns (address);
    function isSettler(address account) external view returns (bool);
    function paused() external view returns (bool);
}
