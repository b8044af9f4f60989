// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Access} from "./base/Access.sol";
import {Domain} from "./base/Domain.sol";
import {IPayoutVault} from "./interfaces/IPayoutVault.sol";
import {Signature} from "./libraries/Signature.sol";
import {TokenTransfer} from "./libraries/TokenTransfer.sol";

/// @title Florin payout vault
contract PayoutVault is IPayoutVault, Access, Domain {
    uint8 private constant DONE = 0;
    uint8 private constant SKIP_ALREADY_PAID_OUT = 1;
    uint8 private constant SKIP_SIGNATURE = 2;
    uint8 private constant SKIP_INVALID = 3;
    uint8 private constant SKIP_TOKEN = 4;
    uint8 private constant SKIP_PER_ORDER_CAP = 5;
    uint8 private constant SKIP_HOURLY_CAP = 6;
    uint8 private constant SKIP_DAILY_CAP = 7;
    uint8 private constant SKIP_TRANSFER = 8;
    uint8 private constant SKIP_DEADLINE = 9;

    uint256 private constant HOURS_PER_DAY = 24;

    /// @dev What left in clock hour `hour` (hours since 1970), and in the day of which it is part.
    struct Outflow {
        uint32 hour;
        uint112 inHour;
        uint112 inDay;
    }

    bytes32 private constant PAYOUT_TYPEHASH = keccak256(
        "Payout(bytes32 orderId,bytes32 channelId,bytes32 metaData,uint64 sourceChain,address token,address to,uint256 amount,uint64 deadline)"
    );

    /// @inheritdoc IPayoutVault
    mapping(bytes32 orderId => bool) public isPaidOut;
    mapping(address token => Caps) private _caps;
    mapping(address token => Outflow) private _outflows;

    constructor(address operatorId) Access(operatorId) Domain("Florin PayoutVault") {
        isPaidOut[bytes32(0)] = true;
    }

    /// @inheritdoc IPayoutVault
    function payout(Payout calldata p, bytes calldata signature) external whenNotPaused onlySettler nonReentrant {
        uint8 reason = _payout(p, signature);
        if (reason != DONE) _refuse(p, reason);
    }

    /// @inheritdoc IPayoutVault
    function payoutBatch(Payout[] calldata payouts, bytes[] calldata signatures)
        external
        whenNotPaused
        onlySettler
        nonReentrant
    {
        if (payouts.length != signatures.length) revert LengthMismatch(payouts.length, signatures.length);
        for (uint256 i = 0; i < payouts.length; ++i) {
            uint8 reason = _payout(payouts[i], signatures[i]);
            if (reason != DONE) emit PayoutSkipped(payouts[i].orderId, reason);
        }
    }

    /// @inheritdoc IPayoutVault
    function withdraw(address token, address to, uint256 amount) external onlyController nonReentrant {
        if (to == address(0)) revert ZeroAddress();
        emit Withdrawn(token, to, amount);
        TokenTransfer.send(token, to, amount);
    }

    /// @inheritdoc IPayoutVault
    function setCaps(address token, uint112 perOrder, uint112 hourly, uint112 daily) external onlyController {
        if (token == address(0)) revert ZeroAddress();
        _caps[token] = Caps(perOrder, hourly, daily);
        emit CapsSet(token, perOrder, hourly, daily);
    }

    /// @inheritdoc IPayoutVault
    function available(address token) external view returns (uint256) {
        Caps memory caps = _caps[token];
        if (caps.perOrder == 0) return 0;
        Outflow memory outflow = _currentOutflow(token);
        uint256 rest = _min(_rest(caps.hourly, outflow.inHour), _rest(caps.daily, outflow.inDay));
        return _min(rest, TokenTransfer.balanceOf(token, address(this)));
    }

    /// @inheritdoc IPayoutVault
    function capsOf(address token) external view returns (Caps memory) {
        return _caps[token];
    }

    /// @inheritdoc IPayoutVault
    function outflowOf(address token) external view returns (uint256 inHour, uint256 inDay) {
        Outflow memory outflow = _currentOutflow(token);
        return (outflow.inHour, outflow.inDay);
    }

    /// @inheritdoc IPayoutVault
    function payoutDigest(Payout calldata p) public view returns (bytes32) {
        return _digest(
            domainSeparator(),
            keccak256(
                abi.encode(
                    PAYOUT_TYPEHASH,
                    p.orderId,
                    p.channelId,
                    p.metaData,
                    p.sourceChain,
                    p.token,
                    p.to,
                    p.amount,
                    p.deadline
                )
            )
        );
    }

    /// @dev Pays, or answers why not and leaves everything as it was.
    function _payout(Payout calldata p, bytes calldata signature) private returns (uint8 reason) {
        Outflow memory outflow = _currentOutflow(p.token);
        reason = _check(p, signature, outflow);
        if (reason != DONE) return reason;

        Outflow memory before = _outflows[p.token];
        isPaidOut[p.orderId] = true;
        // The caps bound both sums to 112 bits.
        outflow.inHour += uint112(p.amount);
        outflow.inDay += uint112(p.amount);
        _outflows[p.token] = outflow;
        if (TokenTransfer.trySend(p.token, p.to, p.amount)) {
            emit PaidOut(p.orderId, p.channelId, p.to, p.token, p.amount, p.sourceChain, p.metaData);
            return DONE;
        }
        isPaidOut[p.orderId] = false;
        _outflows[p.token] = before;
        return SKIP_TRANSFER;
    }

    function _check(Payout calldata p, bytes calldata signature, Outflow memory outflow) private view returns (uint8) {
        if (isPaidOut[p.orderId]) return SKIP_ALREADY_PAID_OUT;
        if (p.to == address(0) || p.to == address(this) || p.amount == 0 || p.sourceChain == 0) return SKIP_INVALID;
        if (block.timestamp > p.deadline) return SKIP_DEADLINE;
        if (!isSigner[Signature.recover(payoutDigest(p), signature)]) return SKIP_SIGNATURE;
        Caps memory caps = _caps[p.token];
        if (caps.perOrder == 0 || caps.hourly == 0 || caps.daily == 0) return SKIP_TOKEN;
        if (p.amount > caps.perOrder) return SKIP_PER_ORDER_CAP;
        if (p.amount > _rest(caps.hourly, outflow.inHour)) return SKIP_HOURLY_CAP;
        if (p.amount > _rest(caps.daily, outflow.inDay)) return SKIP_DAILY_CAP;
        return DONE;
    }

    function _refuse(Payout calldata p, uint8 reason) private view {
        if (reason == SKIP_ALREADY_PAID_OUT) revert AlreadyPaidOut(p.orderId);
        if (reason == SKIP_SIGNATURE) revert InvalidSignature();
        if (reason == SKIP_INVALID) revert InvalidPayout();
        if (reason == SKIP_DEADLINE) revert PayoutDeadlinePassed(p.deadline);
        if (reason == SKIP_TOKEN) revert TokenNotAllowed(p.token);
        if (reason == SKIP_TRANSFER) revert TokenTransfer.TransferFailed(p.token);
        Caps memory caps = _caps[p.token];
        if (reason == SKIP_PER_ORDER_CAP) revert PerOrderCapExceeded(p.amount, caps.perOrder);
        Outflow memory outflow = _currentOutflow(p.token);
        if (reason == SKIP_HOURLY_CAP) revert HourlyCapExceeded(p.amount, _rest(caps.hourly, outflow.inHour));
        revert DailyCapExceeded(p.amount, _rest(caps.daily, outflow.inDay));
    }

    /// @dev The stored outflow, with windows that have ended counted as empty.
    function _currentOutflow(address token) private view returns (Outflow memory outflow) {
        outflow = _outflows[token];
        uint32 hour = uint32(block.timestamp / 1 hours);
        if (outflow.hour == hour) return outflow;
        outflow.inHour = 0;
        if (outflow.hour / HOURS_PER_DAY != hour / HOURS_PER_DAY) outflow.inDay = 0;
        outflow.hour = hour;
    }

    /// @dev A cap that was lowered below what has left already has no rest.
    function _rest(uint256 cap, uint256 used) private pure returns (uint256) {
        return cap > used ? cap - used : 0;
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
