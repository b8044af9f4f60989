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
    mapping(address account => bool) public isSettler;
    mapping(address account => bool) private _signers;
    /// @inheritdoc IAccess
    address public guardian;
    uint256 private transient _entered;
    /// @dev The signer that was granted at construction.
    address private immutable FIRST_SIGNER;
    /// @dev Bit 162: paused. Bit 161: the first signer is revoked. Bit 160: the mark, which is the inheriting contract's.
    /// Below: of the other signers the one that was granted last, or zero once it is revoked. One word, because every
    /// payment reads the pause anyway: that spares a payment signed by the first or the last signer the 2,100 gas of
    /// `_signers`, and whatever else can be told by the mark a read of its own.
    uint256 private _gate;
    uint256 private constant PAUSED = 1 << 162;
    uint256 private constant FIRST_REVOKED = 1 << 161;
    uint256 private constant MARK = 1 << 160;
    uint256 private constant ADDRESS_MASK = 0x00ffffffffffffffffffffffffffffffffffffffff;

    constructor(address admin_, address signer, address settler, address guardian_) {
        if (admin_ == address(0)) revert ZeroAddress();
        admin = admin_;
        emit AdminTransferred(address(0), admin_);
        FIRST_SIGNER = signer;
        _setSigner(signer, true);
        _setSettler(settler, true);
        _setGuardian(guardian_);
    }

    modifier onlyAdmin() {
        if (msg.sender != admin) revert Unauthorized(msg.sender);
        _;
    }

    /// @dev Granting is the admin's; taking away is the guardian's too.
    modifier onlyGranter(bool isGrant) {
        if (msg.sender != admin && (isGrant || msg.sender != guardian)) revert Unauthorized(msg.sender);
        _;
    }

    modifier onlySettler() {
        if (!isSettler[msg.sender]) revert Unauthorized(msg.sender);
        _;
    }

    modifier whenNotPaused() {
        if (paused()) revert ContractPaused();
        _;
    }

    modifier nonReentrant() {
        if (_entered != 0) revert Reentered();
        _entered = 1;
        _;
        _entered = 0;
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
    function pause() external onlyGranter(false) {
        if (paused()) revert ContractPaused();
        _gate |= PAUSED;
        emit Paused(msg.sender);
    }

    /// @inheritdoc IAccess
    function unpause() external onlyAdmin {
        if (!paused()) revert ContractNotPaused();
        _gate &= ~PAUSED;
        emit Unpaused(msg.sender);
    }

    /// @inheritdoc IAccess
    function paused() public view returns (bool) {
        return _gate >= PAUSED;
    }

    /// @dev Announces under the name that the inheriting contract gives its signers.
    function _announceSigner(address signer, bool allowed) internal virtual;

    function _setSigner(address signer, bool allowed) internal {
        // Recovery answers zero for a malformed signature: zero must never be a signer.
        if (signer == address(0)) revert ZeroAddress();
        _signers[signer] = allowed;
        uint256 gate = _gate;
        uint256 latest = uint160(gate);
        if (signer == FIRST_SIGNER) _gate = allowed ? gate & ~FIRST_REVOKED : gate | FIRST_REVOKED;
        else if (allowed) _gate = gate ^ latest ^ uint160(signer);
        else if (latest == uint160(signer)) _gate = gate ^ latest;
        _announceSigner(signer, allowed);
    }

    function _isSigner(address account) internal view returns (bool) {
        return _isSignerBy(_gate, account);
    }

    /// @dev `whenNotPaused` and `_isSigner` with one read for the first and the last signer, for payments.
    function _isSignerWhenNotPaused(address account) internal view returns (bool isCurrent) {
        uint256 gate = _gate;
        address first = FIRST_SIGNER;
        // Neither paused nor the first one revoked, and the first signer or the last: without branches it costs 150 gas
        // less. Whatever else is so is decided below.
        assembly ("memory-safe") {
            let isLast := and(eq(account, and(gate, ADDRESS_MASK)), gt(account, 0))
            isCurrent := and(or(eq(account, first), isLast), iszero(shr(161, gate)))
        }
        if (isCurrent) return true;
        if (gate >= PAUSED) revert ContractPaused();
        return _isSignerBy(gate, account);
    }

    function _isMarked() internal view returns (bool) {
        return _gate & MARK != 0;
    }

    function _setMark(bool marked) internal {
        _gate = marked ? _gate | MARK : _gate & ~MARK;
    }

    function _isSignerBy(uint256 gate, address account) private view returns (bool) {
        if (account == FIRST_SIGNER) return gate & FIRST_REVOKED == 0;
        return account != address(0) && (uint160(account) == uint160(gate) || _signers[account]);
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
