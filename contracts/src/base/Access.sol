// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../interfaces/IAccess.sol";

/// @title Roles, pause and reentrancy lock
abstract contract Access is IAccess {
    /// @inheritdoc IAccess
    address public admin;
    /// @inheritdoc IAccess
    address public pendingAdmin;
    /// @inheritdoc IAccess
    address public guardian;
    /// @inheritdoc IAccess
    mapping(address account => bool) public isSettler;
    mapping(address account => bool) private _signers;
    bool private transient _entered;
    /// @inheritdoc IAccess
    /// @dev The last variable here: the gateway's fee recipient follows in the same word, which every payment reads.
    bool public paused;

    constructor(address admin_, address signer, address settler, address guardian_) {
        if (admin_ == address(0)) revert ZeroAddress();
        admin = admin_;
        emit AdminTransferred(address(0), admin_);
        _setSigner(signer, true);
        _setSettler(settler, true);
        _setGuardian(guardian_);
    }

    modifier onlyAdmin() {
        if (msg.sender != admin) revert Unauthorized(msg.sender);
        _;
    }

    /// @dev The admin grants; the admin and the guardian take away.
    modifier onlyGranter(bool isGrant) {
        if (msg.sender != admin && (isGrant || msg.sender != guardian)) revert Unauthorized(msg.sender);
        _;
    }

    modifier onlySettler() {
        if (!isSettler[msg.sender]) revert Unauthorized(msg.sender);
        _;
    }

    modifier whenNotPaused() {
        if (paused) revert ContractPaused();
        _;
    }

    modifier nonReentrant() {
        if (_entered) revert Reentered();
        _entered = true;
        _;
        _entered = false;
    }

    /// @inheritdoc IAccess
    function transferAdmin(address newAdmin) external onlyAdmin {
        pendingAdmin = newAdmin;
        emit AdminTransferStarted(admin, newAdmin);
    }

    /// @inheritdoc IAccess
    function acceptAdmin() external {
        if (msg.sender != pendingAdmin) revert Unauthorized(msg.sender);
        emit AdminTransferred(admin, msg.sender);
        admin = msg.sender;
        delete pendingAdmin;
    }

    /// @inheritdoc IAccess
    function setGuardian(address guardian_) external onlyAdmin {
        _setGuardian(guardian_);
    }

    /// @inheritdoc IAccess
    function setSettler(address settler, bool allowed) external onlyGranter(allowed) {
        _setSettler(settler, allowed);
    }

    /// @inheritdoc IAccess
    function pause() external onlyGranter(false) whenNotPaused {
        paused = true;
        emit Paused(msg.sender);
    }

    /// @inheritdoc IAccess
    function unpause() external onlyAdmin {
        if (!paused) revert ContractNotPaused();
        paused = false;
        emit Unpaused(msg.sender);
    }

    /// @dev Emits the event under the name that the inheriting contract gives its signers.
    function _emitSignerSet(address signer, bool allowed) internal virtual;

    function _setSigner(address signer, bool allowed) internal {
        // Recovery answers zero for a malformed signature: zero must never be a signer.
        if (signer == address(0)) revert ZeroAddress();
        _signers[signer] = allowed;
        _emitSignerSet(signer, allowed);
    }

    function _isSigner(address account) internal view returns (bool) {
        return _signers[account];
    }

    function _setSettler(address settler, bool allowed) private {
        if (settler == address(0)) revert ZeroAddress();
        isSettler[settler] = allowed;
        emit SettlerSet(settler, allowed);
    }

    function _setGuardian(address guardian_) private {
        if (guardian_ == address(0)) revert ZeroAddress();
        guardian = guardian_;
        emit GuardianSet(guardian_);
    }
}
