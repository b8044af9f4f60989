// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Access} from "./base/Access.sol";
import {Deposits} from "./base/Deposits.sol";
import {Domain} from "./base/Domain.sol";
import {OrderBook} from "./base/OrderBook.sol";
import {Settlement} from "./base/Settlement.sol";
import {IPaymentGateway} from "./interfaces/IPaymentGateway.sol";
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
    function pay(Order calldata order, bytes calldata signature) external nonReentrant {
        Words calldata words = _wordsOf(order);
        _requirePayer(words);
        _takeAllowance(_open(words, signature), words);
    }

    /// @inheritdoc IPaymentGateway
    function payWithPermit(Order calldata order, bytes calldata signature, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
    {
        Words calldata words = _wordsOf(order);
        _requirePayer(words);
        bytes32 orderId = _open(words, signature);
        SignedTransfer.permit(_toAddress(words.token), msg.sender, words.total, words.payBy, v, r, s);
        _takeAllowance(orderId, words);
    }

    /// @inheritdoc IPaymentGateway
    function payWithAuthorization(Order calldata order, bytes calldata signature, bytes calldata authorization)
        external
        nonReentrant
    {
        Words calldata words = _wordsOf(order);
        (bytes32 orderId, address token) = (_openRelayed(words, signature), _toAddress(words.token));
        uint256 held = TokenTransfer.balanceOf(token, address(this));
        unchecked {
            // `payBy` has 64 bits. The token's bound is exclusive, ours is not.
            uint256 validBefore = words.payBy + 1;
            SignedTransfer.authorized(token, _toAddress(words.payer), words.total, validBefore, orderId, authorization);
        }
        _keepOrPassOn(orderId, words, held);
    }

    /// @inheritdoc IPaymentGateway
    function payWithPermit2(Order calldata order, bytes calldata signature, uint256 nonce, bytes calldata permit)
        external
        nonReentrant
    {
        Words calldata words = _wordsOf(order);
        (bytes32 orderId, address token) = (_openRelayed(words, signature), _toAddress(words.token));
        uint256 held = TokenTransfer.balanceOf(token, address(this));
        SignedTransfer.permitted(
            token, _toAddress(words.payer), words.total, words.payBy, _structHashOf(words), nonce, permit
        );
        _keepOrPassOn(orderId, words, held);
    }

    /// @inheritdoc IPaymentGateway
    function collect(Order calldata order, bytes calldata signature) external nonReentrant {
        Words calldata words = _wordsOf(order);
        (bytes32 orderId, address token) = (_openRelayed(words, signature), _toAddress(words.token));
        address receiver = _deployReceiver(orderId);
        emit Collected(orderId, receiver);
        if (words.orderType != TYPE_DIRECT) {
            _forwardExact(receiver, token, address(this), words.total);
            return;
        }
        address to = _toAddress(words.to);
        _emitSettled(orderId, words, words.to);
        uint256 fee = words.fee;
        uint256 net = words.total - fee;
        if (net != 0) _forwardExact(receiver, token, to, net);
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
        TokenTransfer.pullExact(order.token, msg.sender, order.payer, amount);
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

    /// @dev As `_open`, for payments that the payer does not send: what may go back to them must have a way to go.
    function _openRelayed(Words calldata order, bytes calldata signature) private returns (bytes32) {
        if (order.payer == 0) revert ZeroAddress();
        if (order.payer == uint160(address(this))) revert WrongRecipient(address(this));
        return _open(order, signature);
    }

    /// @dev Moves an opened order's money out of the caller's allowance.
    function _takeAllowance(bytes32 orderId, Words calldata order) private {
        address token = _toAddress(order.token);
        if (order.orderType != TYPE_DIRECT) {
            TokenTransfer.pullExact(token, msg.sender, address(this), order.total);
            return;
        }
        address to = _toAddress(order.to);
        _emitSettled(orderId, order, order.to);
        uint256 fee = order.fee;
        uint256 net = order.total - fee;
        if (net != 0) TokenTransfer.pullExact(token, msg.sender, to, net);
        if (fee != 0) TokenTransfer.pullExact(token, msg.sender, feeRecipient(), fee);
    }

    /// @dev What an opened order's money does once a signature has brought it here: it stays, or for direct orders it
    /// leaves again without residue. `held` is the balance before, with which the balance now is compared exactly.
    function _keepOrPassOn(bytes32 orderId, Words calldata order, uint256 held) private {
        address token = _toAddress(order.token);
        if (order.orderType != TYPE_DIRECT) {
            TokenTransfer.requireReceived(token, address(this), held, order.total);
            return;
        }
        address to = _toAddress(order.to);
        _emitSettled(orderId, order, order.to);
        uint256 fee = order.fee;
        uint256 net = order.total - fee;
        if (net != 0) TokenTransfer.sendExact(token, to, net);
        if (fee != 0) TokenTransfer.sendExact(token, feeRecipient(), fee);
        TokenTransfer.requireReceived(token, address(this), held, 0);
    }

    function _requirePayer(Words calldata order) private view {
        if (uint160(msg.sender) != order.payer) revert NotPayer(msg.sender, _toAddress(order.payer));
    }

    function _requireFeeRecipient(address account) private view {
        if (account == address(0)) revert ZeroAddress();
        if (account == address(this)) revert WrongRecipient(account);
    }

    function _announceSigner(address signer, bool allowed) internal override {
        emit OrderSignerSet(signer, allowed);
    }
}
