// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Roles that the gateway and the vault share
/// @notice The controller (meant to stand behind a time lock) grants roles; the guardian can only take away: it pauses and it
/// revokes signers and settlers. There is no upgrade and no generic call. A new contract is controlled by the operator's id,
/// knows no signer, settler or guardian, and is paused until its controller unpauses it.
interface IAccess {
    /// @notice The caller holds none of the roles that this function asks for.
    error Unauthorized(address caller);
    /// @notice An address that must name something is zero.
    error ZeroAddress();
    /// @notice The function is paused, or a paused contract is paused once more.
    error ContractPaused();
    /// @notice Only a paused contract can be unpaused.
    error ContractNotPaused();
    /// @notice A token's callback called back in.
    error Reentered();

    /// @notice `newController` may now accept the role; until then nothing has changed.
    event ControllerTransferStarted(address indexed controller, address indexed newController);
    /// @notice `newController` holds the role.
    event ControllerTransferred(address indexed previousController, address indexed newController);
    event GuardianSet(address indexed guardian);
    event SettlerSet(address indexed settler, bool allowed);
    event SignerSet(address indexed signer, bool allowed);
    event Paused(address indexed by);
    event Unpaused(address indexed by);

    /// @notice Names the next controller, who has to accept. Controller only. Zero withdraws an earlier offer.
    function transferController(address newController) external;

    /// @notice Takes the controller role that was offered. Pending controller only.
    function acceptController() external;

    /// @notice Replaces the guardian. Controller only. To have none, name the controller.
    function setGuardian(address guardian_) external;

    /// @notice Grants (controller only) or revokes (controller or guardian) the settler role.
    function setSettler(address settler, bool allowed) external;

    /// @notice Grants (controller only) or revokes (controller or guardian) the role whose signatures the contract takes: for
    /// the gateway those over orders, for the vault those over payouts.
    function setSigner(address signer, bool allowed) external;

    /// @notice Stops what the contract's documentation calls pausable. Guardian or controller.
    function pause() external;

    /// @notice Resumes. Controller only.
    function unpause() external;

    function controller() external view returns (address);
    function pendingController() external view returns (address);
    function guardian() external view returns (address);
    function isSettler(address account) external view returns (bool);
    function isSigner(address account) external view returns (bool);
    function paused() external view returns (bool);
}
