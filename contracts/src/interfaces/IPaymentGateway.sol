// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "./IAccess.sol";
import {IDomain} from "./IDomain.sol";

/// @title Florin payment gateway
/// @notice Takes a payer's tokens for an order that the service has signed, holds them, and gives them to exactly one
/// of two places: where the order says (`settle`, before `reclaimAt`), or to the payer (`refund`, and from `reclaimAt` on
/// `reclaim`). Recipient, amounts and fee are part of the order's hash. Types 0 and 1 settle to the recipient. Types 2 and
/// 3 settle into what the order names as `via`. For type 2 that is the operator's vault: what happens to its money from
/// there on is the operator's word, not this contract's. For type 3 it is a route, which burns the money, and Circle mints it
/// to the recipient on another chain. The gateway knows neither, and takes any `via` that an order signer has signed.
///
/// An order can be paid in five ways: out of an allowance (`pay`), with an EIP-2612 permit (`payWithPermit`), with an
/// EIP-3009 authorization (`payWithAuthorization`), through Permit2 (`payWithPermit2`), or by plain transfers to the
/// order's own deposit address (`collect`). All five check the same terms and the same signature of the service, use up
/// the same key and emit the same `Paid`.
///
/// One storage word per `metaData` is all that is kept: the order comes back in calldata and is checked against it.
/// All orders of one checkout session share one `metaData`, so at most one of them is ever paid on this chain.
///
/// Tokens must be plain: transfers move exactly the amount that was asked for, and balances do not rebase. A payment
/// in a token that takes a fee reverts; a token whose balances shrink later endangers only the orders in that token.
/// While a token blocks a payer, nothing can go back to that payer: `refund`, `reclaim` and `rescue` revert.
/// Tokens sent to the gateway itself belong to no order and cannot be recovered.
interface IPaymentGateway is IAccess, IDomain {
    /// @notice What the service offers and the payer accepts. Amounts are in the token's own units.
    /// @param channelId Hash of the merchant's account, its version and its settlement token; opaque here.
    /// @param metaData Hash of the session's line items and a secret salt: the single-use key.
    /// @param payer Who pays, and who is paid back by `refund`, `reclaim`, `rescue` and `refundSettled`. Of an order
    /// that is paid by deposit it is the refund address that was committed to: who made the transfers is nobody's
    /// claim.
    /// @param token The ERC-20 that is paid.
    /// @param to The merchant. For types 2 and 3 it is the recipient on the target chain.
    /// @param total What leaves the payer: `payment`, or `payment + fee` when the payer bears the fee. Below 2^128.
    /// @param payment The price.
    /// @param fee The service's share of `total`; the recipient gets `total - fee`.
    /// @param payBy Last second (inclusive) at which the order can be paid.
    /// @param reclaimAt First second (inclusive) at which an unsettled payment can no longer be settled, and anyone can
    /// send it back to the payer. At least two days after `payBy`, at most 120 days after the payment.
    /// @param orderType 0 escrow; 1 direct, which pays the recipient in the same transaction; 2 payout from a vault, in
    /// another token or on another chain, which settles into `via`; 3 CCTP, which settles by burning here
    /// what is minted to the recipient on another chain. The type tells where the money goes, never how it came.
    /// @param targetChain Chain on which the recipient is paid: this one for types 0 and 1, any for type 2, another
    /// one for type 3.
    /// @param via What `settle` pays for types 2 and 3: the operator's vault on this chain, or the CCTP route that burns. The
    /// order signer names it, so payers compare it with the operator's published contracts. Zero for types 0 and 1. As part
    /// of the order it is fixed before the payer pays.
    struct Order {
        bytes32 channelId;
        bytes32 metaData;
        address payer;
        address token;
        address to;
        uint256 total;
        uint256 payment;
        uint256 fee;
        uint64 payBy;
        uint64 reclaimAt;
        uint8 orderType;
        uint64 targetChain;
        address via;
    }

    /// @notice The caller is not the order's payer.
    error NotPayer(address caller, address payer);
    /// @notice `payBy` has passed.
    error PaymentDeadlinePassed(uint64 payBy);
    /// @notice `reclaimAt` has not come yet.
    error ReclaimTooEarly(uint64 reclaimAt);
    /// @notice `reclaimAt` is less than two days after `payBy`, or more than 120 days from now.
    error WrongReclaimTime(uint64 payBy, uint64 reclaimAt);
    /// @notice A gateway takes no payments before it has a fee recipient.
    error FeeRecipientMissing();
    /// @notice The order type is not one that this version knows.
    error UnsupportedOrderType(uint8 orderType);
    /// @notice The target chain does not fit the order type.
    error WrongTargetChain(uint64 targetChain);
    /// @notice Type 2 or 3 without `via` or through the gateway itself, or another type with `via`.
    error WrongVia(uint8 orderType, address via);
    /// @notice Total is zero or too large, fee exceeds it, or total is neither `payment` nor `payment + fee`.
    error WrongAmounts(uint256 total, uint256 payment, uint256 fee);
    /// @notice The recipient cannot be the gateway, nor can the payer whom money may go back to.
    error WrongRecipient(address to);
    /// @notice The signature is malformed, malleable, or not from a current order signer; or it is empty, and the caller is
    /// none.
    error InvalidSignature();
    /// @notice This order, or another of the same session, was paid before. `metaData` zero counts as used.
    error MetaDataUsed(bytes32 metaData);
    /// @notice The order is not paid and open: its status is `status` (0: unknown, or another order holds the key).
    error OrderNotOpen(bytes32 orderId, uint8 status);
    /// @notice Only a settled order can be refunded after settlement: its status is `status` (0 as above).
    error OrderNotSettled(bytes32 orderId, uint8 status);
    /// @notice A refund of nothing, or of an order whose total was refunded before: `remaining` is 0.
    error WrongRefund(uint256 amount, uint256 remaining);
    /// @notice `payBy` has not passed and the key is unused, so the order's token stays at its deposit address.
    error StillCollectable(bytes32 orderId);
    /// @notice The deposit address holds nothing of this.
    error NothingToRescue(address receiver, address token);
    /// @notice No more than the one unit that stays has accrued.
    error NothingToWithdraw(address token);

    /// @notice The order is paid; the tokens are in the gateway. For type 1 it is settled with that: `totalValue - feeValue`
    /// went to `to`, and no `Settled` follows. `from` is the order's payer, whoever sent the transaction.
    event Paid(
        bytes32 indexed orderId,
        bytes32 indexed channelId,
        address indexed from,
        address to,
        address token,
        uint256 totalValue,
        uint256 paymentValue,
        uint256 feeValue,
        uint8 orderType,
        bytes32 metaData
    );
    /// @notice The order was paid out of its deposit address `receiver`. Follows `Paid` in the same transaction; an
    /// order without it was paid by a signature or a transaction of the payer.
    event Collected(bytes32 indexed orderId, address indexed receiver);
    /// @notice `settle` has sent `netValue` to `to`. For types 2 and 3 `to` is the order's `via`. A token
    /// that has begun to take a fee since the payment keeps its fee out of what arrives.
    event Settled(
        bytes32 indexed orderId,
        bytes32 indexed channelId,
        address indexed to,
        address token,
        uint256 netValue,
        uint256 feeValue,
        bytes32 metaData
    );
    /// @notice The settler has returned the whole payment to the payer.
    event Refunded(bytes32 indexed orderId, address indexed payer, address token, uint256 value, bytes32 metaData);
    /// @notice The whole payment has gone back to the payer, because it was not settled before `reclaimAt`.
    event Reclaimed(bytes32 indexed orderId, address indexed payer, address token, uint256 value, bytes32 metaData);
    /// @notice A settled order's payer has received `value` from `from`, who called; `refundedTotal` is the sum so far.
    event SettlementRefunded(
        bytes32 indexed orderId,
        address indexed payer,
        address indexed from,
        address token,
        uint256 value,
        uint256 refundedTotal,
        bytes32 metaData
    );
    /// @notice What no order could use has left a deposit address. `token` zero is the chain's own coin.
    event Rescued(bytes32 indexed orderId, address indexed payer, address indexed token, uint256 value);
    /// @notice `settle` left this order as it was. Reasons: 1 unknown (not paid, or another order holds its key);
    /// 2 settled, refunded or reclaimed before; 3 the token refused the transfer to the recipient; 4 only settlers may
    /// settle the order now, because it is of type 2 or 3, or was paid less than a day ago; 5 the CCTP route refused, or
    /// the token its approval; 6 `reclaimAt` has come.
    event SettleSkipped(bytes32 indexed orderId, uint8 reason);
    /// @notice The token refused the fee recipient of a direct order: the fee has accrued here. Follows `Paid` in the same
    /// transaction.
    event FeeAccrued(bytes32 indexed orderId, address indexed token, uint256 value);
    event FeesWithdrawn(address indexed token, address indexed to, uint256 value);
    event FeeRecipientSet(address indexed feeRecipient);

    /// @notice Pays an order out of the caller's allowance. Pausable.
    /// @dev Refuses a token that delivers anything but the exact amount. So a direct order whose payer is also its recipient,
    /// or the fee recipient, reverts with `InexactTransfer`: a transfer to oneself delivers nothing. It can be paid by an
    /// authorization, through Permit2 or by deposit.
    /// @param order The order; the caller must be its payer.
    /// @param signature 65 bytes r, s, v of a current order signer over `orderIdOf(order)`; low s, v 27 or 28. Empty when
    /// the caller is a current order signer: its own transaction is its consent.
    function pay(Order calldata order, bytes calldata signature) external;

    /// @notice As `pay`, after an EIP-2612 permit from the payer to this contract over exactly `total`, valid until
    /// `payBy`. Pausable.
    /// @dev A permit that fails is passed over: when someone sent it first, the allowance stands. A permit names no
    /// order, which is why only the payer can bring it.
    /// @param order The order; the caller must be its payer.
    /// @param signature As for `pay`.
    /// @param v Of the payer's signature over the permit.
    /// @param r Of the payer's signature over the permit.
    /// @param s Of the payer's signature over the permit.
    function payWithPermit(Order calldata order, bytes calldata signature, uint8 v, bytes32 r, bytes32 s) external;

    /// @notice Pays an order with the payer's EIP-3009 authorization. Anyone may send it. Pausable.
    /// @dev The order determines the authorization: `ReceiveWithAuthorization` from the payer to this contract over
    /// `total`, `validAfter` 0, `validBefore` `payBy + 1`, and the order's id as nonce. 65 bytes go to the token as
    /// v, r, s, which every token of EIP-3009 takes; any other length as bytes, for wallets whose signatures are
    /// longer (FiatToken 2.2 and later).
    /// @param order The order.
    /// @param signature As for `pay`.
    /// @param authorization The payer's signature: 65 bytes r, s, v, or what the payer's EIP-1271 wallet takes.
    function payWithAuthorization(Order calldata order, bytes calldata signature, bytes calldata authorization) external;

    /// @notice Pays an order with the payer's signature for Permit2. Anyone may send it. Pausable.
    /// @dev The payer signs `PermitWitnessTransferFrom` over `total` of the token, with this contract as spender,
    /// `nonce`, `payBy` as deadline and the order as witness.
    /// @param order The order.
    /// @param signature As for `pay`.
    /// @param nonce Unordered nonce of Permit2. One whose word the payer has used before saves 17,100 gas.
    /// @param permit The payer's signature, in any form that Permit2 takes.
    function payWithPermit2(Order calldata order, bytes calldata signature, uint256 nonce, bytes calldata permit)
        external;

    /// @notice Pays an order out of its deposit address, which must hold `total` or more. Anyone may call. Pausable.
    /// @dev Moves exactly `total`; the rest is for `rescue`. Puts the receiver's code in place when it is not yet
    /// there.
    /// @param order The order; its payer is the refund address.
    /// @param signature As for `pay`.
    function collect(Order calldata order, bytes calldata signature) external;

    /// @notice Sends all of `token` at the order's deposit address to the order's payer. Anyone may call; a pause does
    /// not stop it. The order's own token can be rescued only after `payBy`, once the order's key is used, or while `payBy`
    /// is more than 120 days away, when the order cannot be paid. Anything else can be rescued at any time.
    /// @dev A payer that refuses the chain's own coin makes the deposit receiver revert with its `CoinRefused`. A payer that
    /// the token blocks makes it revert with `TransferFailed`, and the money waits.
    /// @param order The order whose deposit address it is. It needs no signature.
    /// @param token The token, or zero for the chain's own coin.
    function rescue(Order calldata order, address token) external;

    /// @notice As `rescue`, for what was sent here to the deposit address of an order of another chain, on which this
    /// gateway has the same address. No such order can be collected here, so everything can be rescued at any time.
    /// @param order The other chain's order.
    /// @param token The token on this chain, or zero for this chain's own coin.
    /// @param chainId The other chain's id (EIP-155).
    function rescueFromChain(Order calldata order, address token, uint256 chainId) external;

    /// @notice Sends paid orders' net amounts to where they belong, before their `reclaimAt` and never later. Settlers may
    /// call at any time; anyone else for type 0 alone, a day after the payment. A pause does not stop it.
    /// @dev Neighbours with the same token and receiver share one transfer, so sort by token and by `to`, for types 2 and
    /// 3 by `via`. An order that cannot be settled is skipped with `SettleSkipped` and changes nothing. When a
    /// transfer fails for want of gas the whole call reverts, so that a caller cannot cause skips by starving it. The whole
    /// call also reverts for an order of type 3 whose route takes another amount than it should, whose token does not answer
    /// `balanceOf`, or whose token does not take back the approval of a route that refused. Only settlers settle type 3, and
    /// they can leave that order out.
    /// @param orders The paid orders. One that comes twice is skipped the second time.
    function settle(Order[] calldata orders) external;

    /// @notice Pays a settled order's payer back out of the caller's allowance, in the order's token. Anyone who has
    /// the money may call, and may do so in parts; all together cannot exceed the order's total. A pause does not stop
    /// it.
    /// @param order The settled order.
    /// @param amount In the token's own units. When less than that remains, only what remains is taken.
    function refundSettled(Order calldata order, uint256 amount) external;

    /// @notice Returns an unsettled payment in full to its payer. Settler only; a pause does not stop it.
    /// @dev Reverts while the token blocks the payer.
    /// @param order The paid order.
    function refund(Order calldata order) external;

    /// @notice Sends an unsettled payment back to its payer in full, from `reclaimAt` on. Anyone may call; a pause does not
    /// stop it.
    /// @dev Reverts while the token blocks the payer. The order cannot be settled any more either, so the payment then waits
    /// here until the token's issuer lifts the block.
    /// @param order The paid order.
    function reclaim(Order calldata order) external;

    /// @notice Sends accrued fees, but for one unit, to the fee recipient. Anyone may call.
    /// @dev The unit that stays keeps two storage words warm: an empty balance costs the next payer 17,100 gas.
    function withdrawFees(address token) external;

    /// @notice Replaces the receiver of fees, accrued ones included. Controller only.
    function setFeeRecipient(address feeRecipient_) external;

    /// @notice The order's EIP-712 digest on this chain and contract: what the service signs, and the order's id.
    function orderIdOf(Order calldata order) external view returns (bytes32);

    /// @notice What the single-use key holds.
    /// @return status 0 unused, 1 paid, 2 settled, 3 refunded, 4 reclaimed, 255 unusable (`metaData` zero).
    /// @return paidAt Time of the paying block, Unix seconds.
    /// @return truncatedOrderId The upper 208 bits of the paid order's id.
    function statusOf(bytes32 metaData) external view returns (uint8 status, uint40 paidAt, uint208 truncatedOrderId);

    /// @notice Status of this very order: as `statusOf`, and 0 too when another order holds its key.
    function orderStatus(Order calldata order) external view returns (uint8);

    /// @notice The deposit address of an order: what it holds can only pay that order or go to its payer.
    function receiverOf(bytes32 orderId) external view returns (address);

    /// @notice What `refundSettled` has paid back of an order so far.
    function refundedOf(bytes32 orderId) external view returns (uint256);

    /// @notice Fees that orders have left here, including the unit that stays.
    function accruedFees(address token) external view returns (uint256);

    function feeRecipient() external view returns (address);
}
