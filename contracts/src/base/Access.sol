// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../interfaces/IAccess.sol";

/// @title Roles, pause and reentrancy lock
abstract contract Access is IAccess {
    /// @inheritdoc IAccess
    address public controller;
    /// @inheritdoc IAccess
    address public pendingController;
    /// @inheritdoc IAccess
    address public guardian;
    /// @inheritdoc IAccess
    mapping(address account => bool) public isSettler;
    /// @inheritdoc IAccess
    mapping(address account => bool) public isSigner;
    uint256 private transient _entered;
    /// @inheritdoc IAccess
    /// @dev The last variable here: the gateway's fee recipient follows in the same word, which every payment reads.
    bool public paused;

    /// @dev The operator's id is all that a contract is made from, so it has one address on every chain, whatever keys come
    /// later. It starts without any, and paused.
    constructor(address operatorId) {
        if (operatorId == address(0)) revert ZeroAddress();
        controller = operatorId;
        emit ControllerTransferred(address(0), operatorId);
        paused = true;
    }

    modifier onlyController() {
        if (msg.sender != controller) revert Unauthorized(msg.sender);
        _;
    }

    /// @dev The controller grants; the controller and the guardian take away.
    modifier onlyGranter(bool isGrant) {
        if (msg.sender != controller && (isGrant || msg.sender != guardian)) revert Unauthorized(msg.sender);
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
        if (_entered != 0) revert Reentered();
        _entered = 1;
        _;
        _entered = 0;
    }

    /// @inheritdoc IAccess
    function transferController(address newController) external onlyController {
        pendingController = newController;
        emit ControllerTransferStarted(controller, newController);
    }

    /// @inheritdoc IAccess
    function acceptController() external {
        if (msg.sender != pendingController) revert Unauthorized(msg.sender);
        emit ControllerTransferred(controller, msg.sender);
        controller = msg.sender;
        delete pendingController;
    }

    /// @inheritdoc IAccess
    function setGuardian(address guardian_) external onlyController {
        if (guardian_ == address(0)) revert ZeroAddress();
        guardian = guardian_;
        emit GuardianSet(guardian_);
    }

    /// @inheritdoc IAccess
    function setSettler(address settler, bool allowed) external onlyGranter(allowed) {
        if (settler == address(0)) revert ZeroAddress();
        isSettler[settler] = allowed;
        emit SettlerSet(settler, allowed);
    }

    /// @inheritdoc IAccess
    function setSigner(address signer, bool allowed) external onlyGranter(allowed) {
        // Recovery answers zero for a malformed signature: zero must never be a signer.
        if (signer == address(0)) revert ZeroAddress();
        isSigner[signer] = allowed;
        emit SignerSet(signer, allowed);
    }

    /// @inheritdoc IAccess
    function pause() external onlyGranter(false) whenNotPaused {
        paused = true;
        emit Paused(msg.sender);
    }

    /// @inheritdoc IAccess
    function unpause() external onlyController {
        if (!paused) revert ContractNotPaused();
        _requireReady();
        paused = false;
        emit Unpaused(msg.sender);
    }

    /// @dev Reverts while something is missing that has to be set before the contract works for the first time.
    function _requireReady() internal view virtual {}
}
