// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Access} from "./base/Access.sol";
import {Deposits} from "./base/Deposits.sol";
import {Domain} from "./base/Domain.sol";
import {OrderBook} from "./base/OrderBook.sol";
import {Settlement} from "./base/Settlement.sol";
import {IPaymentGateway} from "./interfaces/IPaymentGateway.sol";
import {Signature} from "./libraries/Signature.sol";
import {SignedTransfer} from "./libraries/SignedTransfer.sol";
import {TokenTransfer} from "./libraries/TokenTransfer.sol";

/// @title Florin payment gateway
/// @dev Every function that moves tokens writes its state first and holds the reentrancy lock. The lock is needed
/// besides, because the check of a received amount compares balances around a call to the token.
contract PaymentGateway is Settlement, Deposits {
    uint256 private constant DUST = 1;

    /// @dev Where fees go until `setFeeRecipient` names another, which the mark of `Access` tells: few ever do, and those
    /// who do not save 2,000 gas with every direct payment.
    address private immutable FIRST_FEE_RECIPIENT;
    address private _feeRecipient;
    /// @inheritdoc IPaymentGateway
    mapping(bytes32 orderId => uint256) public refundedOf;

    constructor(
        address admin_,
        address orderSigner,
        address settler,
        address guardian_,
        address feeRecipient_,
        address vault_,
        address cctpRoute_
    )
        Access(admin_, orderSigner, settler, guardian_)
        Domain("Florin PaymentGateway")
        OrderBook(cctpRoute_)
        Settlement(vault_)
    {
        _requireFeeRecipient(feeRecipient_);
        FIRST_FEE_RECIPIENT = feeRecipient_;
        emit FeeRecipientSet(feeRecipient_);
    }

    /// @inheritdoc IPaymentGateway
    function pay(Order calldata, bytes calldata signature) external nonReentrant {
        _requirePayer();
        _open(signature);
        _takeAllowance();
    }

    /// @inheritdoc IPaymentGateway
    function payWithPermit(Order calldata, bytes calldata signature, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
    {
        _requirePayer();
        _open(signature);
        Words calldata words = _paidOrder();
        SignedTransfer.permit(_toAddress(words.token), msg.sender, words.total, words.payBy, v, r, s);
        _takeAllowance();
    }

    /// @inheritdoc IPaymentGateway
    function payWithAuthorization(Order calldata, bytes calldata signature, bytes calldata authorization)
        external
        nonReentrant
    {
        _requireReachablePayer();
        bytes32 orderId = _open(signature);
        if (authorization.length == Signature.LENGTH) {
            uint256 held = _takeByParts(orderId, authorization);
            if (_paidOrder().orderType == TYPE_DIRECT) _passOn(held);
        } else {
            _takeByBytes(orderId, authorization);
        }
    }

    /// @inheritdoc IPaymentGateway
    function payWithPermit2(Order calldata, bytes calldata signature, uint256 nonce, bytes calldata permit)
        external
        nonReentrant
    {
        _requireReachablePayer();
        _open(signature);
        Words calldata words = _paidOrder();
        address token = _toAddress(words.token);
        uint256 held = TokenTransfer.balanceOf(token, address(this));
        SignedTransfer.permitted(
            token, _toAddress(words.payer), words.total, words.payBy, _structHashOf(words), nonce, permit
        );
        _keepOrPassOn(token, held);
    }

    /// @inheritdoc IPaymentGateway
    function collect(Order calldata, bytes calldata signature) external nonReentrant {
        _requireReachablePayer();
        bytes32 orderId = _open(signature);
        Words calldata words = _paidOrder();
        address token = _toAddress(words.token);
        address receiver = _deployReceiver(orderId);
        emit Collected(orderId, receiver);
        if (words.orderType != TYPE_DIRECT) {
            _forwardExact(receiver, token, address(this), words.total);
            return;
        }
        uint256 fee = words.fee;
        uint256 net = words.total - fee;
        if (net != 0) _forwardExact(receiver, token, _toAddress(words.to), net);
        if (fee != 0) _forwardExact(receiver, token, feeRecipient(), fee);
    }

    /// @inheritdoc IPaymentGateway
    function refund(Order calldata order) external onlySettler nonReentrant {
        bytes32 orderId = _close(order, STATUS_REFUNDED);
        emit Refunded(orderId, order.payer, order.token, order.total, order.metaData);
        TokenTransfer.send(order.token, order.payer, order.total);
    }

    /// @inheritdoc IPaymentGateway
    function reclaim(Order calldata order) external nonReentrant {
        if (msg.sender != order.payer) revert NotPayer(msg.sender, order.payer);
        if (block.timestamp < order.reclaimAt) revert ReclaimTooEarly(order.reclaimAt);
        bytes32 orderId = _close(order, STATUS_RECLAIMED);
        emit Reclaimed(orderId, order.payer, order.token, order.total, order.metaData);
        TokenTransfer.send(order.token, order.payer, order.total);
    }

    /// @inheritdoc IPaymentGateway
    function refundSettled(Order calldata order, uint256 amount) external nonReentrant {
        bytes32 orderId = orderIdOf(order);
        uint8 status = _statusIn(_slots[order.metaData].word, orderId);
        if (status != STATUS_SETTLED) revert OrderNotSettled(orderId, status);
        uint256 refunded = refundedOf[orderId];
        uint256 remaining = order.total - refunded;
        if (amount == 0 || amount > remaining) revert WrongRefund(amount, remaining);
        refunded += amount;
        refundedOf[orderId] = refunded;
        emit SettlementRefunded(orderId, order.payer, order.token, amount, refunded, order.metaData);
        TokenTransfer.pullExact(order.token, order.payer, amount);
    }

    /// @inheritdoc IPaymentGateway
    function withdrawFees(address token) external nonReentrant {
        uint256 accrued = accruedFees[token];
        if (accrued <= DUST) revert NothingToWithdraw(token);
        accruedFees[token] = DUST;
        address to = feeRecipient();
        emit FeesWithdrawn(token, to, accrued - DUST);
        TokenTransfer.send(token, to, accrued - DUST);
    }

    /// @inheritdoc IPaymentGateway
    function setOrderSigner(address signer, bool allowed) external onlyGranter(allowed) {
        _setSigner(signer, allowed);
    }

    /// @inheritdoc IPaymentGateway
    function setFeeRecipient(address feeRecipient_) external onlyAdmin {
        _requireFeeRecipient(feeRecipient_);
        _feeRecipient = feeRecipient_;
        _setMark(feeRecipient_ != FIRST_FEE_RECIPIENT);
        emit FeeRecipientSet(feeRecipient_);
    }

    /// @inheritdoc IPaymentGateway
    function isOrderSigner(address account) external view returns (bool) {
        return _isSigner(account);
    }

    /// @inheritdoc IPaymentGateway
    function feeRecipient() public view returns (address) {
        return _isMarked() ? _feeRecipient : FIRST_FEE_RECIPIENT;
    }

    /// @dev For payments that the payer does not send: what may go back to them must have a way to go.
    function _requireReachablePayer() private view {
        bool isNobody;
        assembly ("memory-safe") {
            let payer := calldataload(PAID_PAYER)
            isNobody := or(iszero(payer), eq(payer, address()))
        }
        if (isNobody) _refusePayer();
    }

    function _refusePayer() private view {
        if (_paidOrder().payer == 0) revert ZeroAddress();
        revert WrongRecipient(address(this));
    }

    /// @dev Moves an opened order's money out of the caller's allowance.
    function _takeAllowance() private {
        Words calldata order = _paidOrder();
        address token = _toAddress(order.token);
        if (order.orderType != TYPE_DIRECT) {
            TokenTransfer.pullExact(token, address(this), order.total);
            return;
        }
        uint256 fee = order.fee;
        unchecked {
            // No fee that was opened exceeds its total.
            uint256 net = order.total - fee;
            if (net != 0) TokenTransfer.pullExact(token, _toAddress(order.to), net);
        }
        if (fee != 0) TokenTransfer.pullExact(token, feeRecipient(), fee);
    }

    /// @dev Has the token take an opened order's money by an EIP-3009 authorization of 65 bytes, v, r, s in parts; reverts
    /// unless exactly that arrives. As `TokenTransfer.pullExact`, by hand and judged at the end. Nothing has been allocated
    /// before. Answers the balance before.
    function _takeByParts(bytes32 orderId, bytes calldata authorization) private returns (uint256 held) {
        uint256 left;
        bool known;
        bool moved;
        bool exact;
        assembly ("memory-safe") {
            let token := calldataload(PAID_TOKEN)
            let total := calldataload(PAID_TOTAL)
            // The selectors of `balanceOf` and `receiveWithAuthorization` at the end of a word.
            mstore(0, 0x70a08231)
            mstore(0x20, address())
            // Arguments are evaluated from the last to the first: the call comes before the size of its answer.
            known := and(gt(returndatasize(), 0x1f), staticcall(gas(), token, 0x1c, 0x24, 0, 0x20))
            held := mload(0)

            mstore(0x80, 0xef55bec6)
            mstore(0xa0, calldataload(PAID_PAYER))
            mstore(0xc0, address())
            mstore(0xe0, total)
            mstore(0x100, 0)
            // The token's bound is exclusive, ours is not. `payBy` has 64 bits.
            mstore(0x120, add(calldataload(PAID_PAY_BY), 1))
            mstore(0x140, orderId)
            mstore(0x160, byte(0, calldataload(add(authorization.offset, 0x40))))
            calldatacopy(0x180, authorization.offset, 0x40)
            mstore(0, 0)
            moved := call(gas(), token, 0, 0x9c, 0x124, 0, 0x20)
            // The word was cleared, so an answer that is shorter than a word cannot make it 1. That the token has code is
            // known when it has told the balance.
            if returndatasize() { moved := and(moved, eq(mload(0), 1)) }

            mstore(0, 0x70a08231)
            known := and(known, and(gt(returndatasize(), 0x1f), staticcall(gas(), token, 0x1c, 0x24, 0, 0x20)))
            left := mload(0)
            exact := and(and(known, moved), and(eq(sub(left, held), total), iszero(lt(left, held))))
        }
        if (!exact) TokenTransfer.refuse(_toAddress(_paidOrder().token), known, moved, held, left, _paidOrder().total);
    }

    /// @dev As `_takeByParts`, for wallets whose signatures are not 65 bytes long.
    function _takeByBytes(bytes32 orderId, bytes calldata authorization) private {
        Words calldata order = _paidOrder();
        (address token, uint256 validBefore) = (_toAddress(order.token), order.payBy + 1);
        uint256 held = TokenTransfer.balanceOf(token, address(this));
        SignedTransfer.authorized(token, _toAddress(order.payer), order.total, validBefore, orderId, authorization);
        _keepOrPassOn(token, held);
    }

    /// @dev What an opened order's money does once a signature has brought it here: it stays, or for direct orders it
    /// leaves again. `held` is the balance before, with which the balance now is compared exactly.
    function _keepOrPassOn(address token, uint256 held) private {
        TokenTransfer.requireReceived(token, address(this), held, _paidOrder().total);
        if (_paidOrder().orderType == TYPE_DIRECT) _passOn(held);
    }

    /// @dev Sends a direct order's money on; reverts unless the balance is `held` then, so that no residue stays.
    function _passOn(uint256 held) private {
        Words calldata order = _paidOrder();
        address token = _toAddress(order.token);
        uint256 fee = order.fee;
        uint256 net = order.total - fee;
        if (net != 0) TokenTransfer.sendExact(token, _toAddress(order.to), net);
        if (fee != 0) TokenTransfer.sendExact(token, feeRecipient(), fee);
        TokenTransfer.requireReceived(token, address(this), held, 0);
    }

    function _requirePayer() private view {
        uint256 payer = _paidOrder().payer;
        if (uint160(msg.sender) != payer) revert NotPayer(msg.sender, _toAddress(payer));
    }

    function _requireFeeRecipient(address account) private view {
        if (account == address(0)) revert ZeroAddress();
        if (account == address(this)) revert WrongRecipient(account);
    }

    function _announceSigner(address signer, bool allowed) internal override {
        emit OrderSignerSet(signer, allowed);
    }
}
