// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalDai} from "../../local/LocalDai.sol";
import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {LocalUsdt} from "../../local/LocalUsdt.sol";
import {PaymentGateway} from "../../src/PaymentGateway.sol";
import {IAccess} from "../../src/interfaces/IAccess.sol";
import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../../src/libraries/TokenTransfer.sol";
import {HostileRoute} from "../hostile/HostileRoute.sol";
import {HostileToken} from "../hostile/HostileToken.sol";
import {Test} from "./Test.sol";

/// @notice A gateway, the local tokens, and orders that are valid until a test spoils them.
abstract contract GatewayTest is Test {
    uint8 internal constant UNKNOWN = 0;
    uint8 internal constant PAID = 1;
    uint8 internal constant SETTLED = 2;
    uint8 internal constant REFUNDED = 3;
    uint8 internal constant RECLAIMED = 4;
    uint8 internal constant UNUSABLE = 255;

    uint8 internal constant ESCROW = 0;
    uint8 internal constant DIRECT = 1;
    uint8 internal constant VAULT_PAYOUT = 2;
    uint8 internal constant CCTP = 3;
    uint8 internal constant ORDER_TYPES = 4;

    uint8 internal constant SKIP_UNKNOWN = 1;
    uint8 internal constant SKIP_FINAL = 2;
    uint8 internal constant SKIP_TRANSFER = 3;
    uint8 internal constant SKIP_NOT_SETTLER = 4;
    uint8 internal constant SKIP_ROUTE = 5;
    uint8 internal constant SKIP_RECLAIMABLE = 6;

    uint256 internal constant START = 1_800_000_000;
    uint64 internal constant OTHER_CHAIN = 8453;
    uint256 internal constant MAX_TOTAL = type(uint128).max;

    address internal controller = account("controller");
    address internal signer = account("order signer");
    address internal settler = account("settler");
    address internal guardian = account("guardian");
    address internal feeRecipient = account("fee recipient");
    address internal vault = account("vault");
    address internal payer = account("payer");
    address internal merchant = account("merchant");
    address internal stranger = account("stranger");
    address internal minter = account("minter");

    PaymentGateway internal gateway;
    HostileRoute internal route;
    LocalUsdc internal usdc;
    LocalUsdt internal usdt;
    LocalDai internal dai;

    function setUp() public virtual {
        vm.warp(START);
        route = new HostileRoute();
        gateway = newGateway();
        // Tests settle as a settler where they do not say who calls.
        vm.prank(controller);
        gateway.setSettler(address(this), true);
        usdc = new LocalUsdc("USD Coin", "USDC", minter);
        usdt = new LocalUsdt("Tether USD", "USDT", minter);
        dai = new LocalDai("Dai Stablecoin", "DAI", minter);
    }

    /// @notice A gateway that its controller has set up.
    function newGateway() internal returns (PaymentGateway made) {
        made = PaymentGateway(deploy("PaymentGateway", abi.encode(controller)));
        vm.startPrank(controller);
        made.setSigner(signer, true);
        made.setSettler(settler, true);
        made.setGuardian(guardian);
        made.setFeeRecipient(feeRecipient);
        made.unpause();
        vm.stopPrank();
    }

    /// @notice 100 USDC into escrow, of which the merchant bears one as fee.
    function plainOrder() internal view returns (IPaymentGateway.Order memory order) {
        order = IPaymentGateway.Order({
            channelId: keccak256("channel"),
            metaData: keccak256("line items and salt"),
            payer: payer,
            token: address(usdc),
            to: merchant,
            total: 100e6,
            payment: 100e6,
            fee: 1e6,
            payBy: uint64(block.timestamp + 30 minutes),
            reclaimAt: uint64(block.timestamp + 7 days),
            orderType: ESCROW,
            targetChain: uint64(block.chainid),
            via: address(0)
        });
    }

    /// @notice A valid escrow order with amounts, fee bearer, key and deadlines out of `seed`.
    function anyOrder(uint256 seed) internal view returns (IPaymentGateway.Order memory order) {
        order = plainOrder();
        order.channelId = bytes32(pick(seed, 0));
        order.metaData = bytes32(pick(seed, 1));
        order.payment = bound(pick(seed, 2), 1, MAX_TOTAL / 4);
        order.fee = bound(pick(seed, 3), 0, order.payment);
        order.total = pick(seed, 4) % 2 == 0 ? order.payment : order.payment + order.fee;
        order.payBy = uint64(block.timestamp + bound(pick(seed, 5), 0, 30 days));
        order.reclaimAt = uint64(order.payBy + 2 days + bound(pick(seed, 6), 0, 60 days));
        if (pick(seed, 7) % 3 == 0) order.token = address(usdt);
    }

    /// @notice As `anyOrder`, of any type.
    function anyOrderOf(uint256 seed, uint8 orderType) internal view returns (IPaymentGateway.Order memory order) {
        order = anyOrder(seed);
        order.orderType = orderType;
        if (orderType >= VAULT_PAYOUT) order.targetChain = OTHER_CHAIN;
        order.via = viaOf(orderType);
    }

    /// @notice As `anyOrder`, but never all fee, which would need no transfer.
    function anyOrderWithNet(uint256 seed) internal view returns (IPaymentGateway.Order memory order) {
        order = anyOrder(seed);
        order.total = order.payment + order.fee;
    }

    /// @notice Through what an order of this type leaves.
    function viaOf(uint8 orderType) internal view returns (address) {
        if (orderType == VAULT_PAYOUT) return vault;
        return orderType == CCTP ? address(route) : address(0);
    }

    /// @notice What settlement sends.
    function netOf(IPaymentGateway.Order memory order) internal pure returns (uint256) {
        return order.total - order.fee;
    }

    /// @notice The digest written out after EIP-712, sharing no code with the gateway.
    function digestOf(IPaymentGateway.Order memory order) internal view returns (bytes32) {
        return digestFor(order, address(gateway), block.chainid);
    }

    function digestFor(IPaymentGateway.Order memory order, address verifier, uint256 chain)
        internal
        pure
        returns (bytes32)
    {
        bytes32 typeHash = keccak256(
            "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain,address via)"
        );
        bytes32 separator = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Florin PaymentGateway"),
                keccak256("1"),
                chain,
                verifier
            )
        );
        return keccak256(abi.encodePacked(hex"1901", separator, keccak256(abi.encode(typeHash, order))));
    }

    function sign(IPaymentGateway.Order memory order) internal view returns (bytes memory) {
        return signDigest(keyOf("order signer"), digestOf(order));
    }

    /// @notice Gives the payer the total and the gateway the allowance.
    function fund(IPaymentGateway.Order memory order) internal {
        give(order.token, order.payer, order.total);
        allow(order.token, order.payer, order.total);
    }

    function give(address token, address to, uint256 amount) internal {
        // Circle's USDC mints no zero.
        if (amount == 0) return;
        if (token == address(usdt)) {
            vm.startPrank(minter);
            usdt.issue(amount);
            usdt.transfer(to, amount);
            vm.stopPrank();
        } else {
            vm.prank(minter);
            // LocalDai and the hostile tokens have the same function.
            LocalUsdc(token).mint(to, amount);
        }
    }

    function allow(address token, address owner, uint256 amount) internal {
        if (token == address(usdt)) {
            vm.startPrank(owner);
            usdt.approve(address(gateway), 0);
            usdt.approve(address(gateway), amount);
            vm.stopPrank();
        } else {
            vm.prank(owner);
            IERC20(token).approve(address(gateway), amount);
        }
    }

    function payAs(address caller, IPaymentGateway.Order memory order, bytes memory signature) internal {
        vm.prank(caller);
        gateway.pay(order, signature);
    }

    /// @notice Funds and pays, and answers the order's id.
    function pay(IPaymentGateway.Order memory order) internal returns (bytes32) {
        fund(order);
        payAs(order.payer, order, sign(order));
        return digestOf(order);
    }

    function settleAs(address caller, IPaymentGateway.Order memory order) internal {
        vm.prank(caller);
        gateway.settle(only(order));
    }

    /// @notice From now on anyone may settle what was paid before, if it is of type 0.
    function waitForStrangers() internal {
        vm.warp(block.timestamp + 1 days);
    }

    /// @notice Pays and settles, as the settler, who may settle every type.
    function payAndSettle(IPaymentGateway.Order memory order) internal returns (bytes32 orderId) {
        orderId = pay(order);
        if (order.orderType != DIRECT) settleAs(settler, order);
    }

    function settleOne(IPaymentGateway.Order memory order) internal {
        gateway.settle(only(order));
    }

    function only(IPaymentGateway.Order memory order) internal pure returns (IPaymentGateway.Order[] memory orders) {
        orders = new IPaymentGateway.Order[](1);
        orders[0] = order;
    }

    function balance(address token, address owner) internal view returns (uint256) {
        return IERC20(token).balanceOf(owner);
    }

    function statusOf(IPaymentGateway.Order memory order) internal view returns (uint8) {
        return gateway.orderStatus(order);
    }

    function slotOf(IPaymentGateway.Order memory order) internal view returns (bytes32) {
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(order.metaData);
        return bytes32((uint256(id) << 48) | (uint256(paidAt) << 8) | status);
    }

    /// @notice Expects that the payment is refused with `reason` and changes nothing.
    function expectRefused(IPaymentGateway.Order memory order, bytes memory signature, bytes memory reason) internal {
        uint256 balanceBefore = balance(address(usdc), address(gateway));
        vm.expectRevert(reason);
        payAs(order.payer, order, signature);
        vm.assertEq(statusOf(order), UNKNOWN, "a refused payment left a status");
        vm.assertEq(balance(address(usdc), address(gateway)), balanceBefore, "a refused payment moved tokens");
    }

    function expectPaid(IPaymentGateway.Order memory order) internal {
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Paid(
            digestOf(order),
            order.channelId,
            order.payer,
            order.to,
            order.token,
            order.total,
            order.payment,
            order.fee,
            order.orderType,
            order.metaData
        );
    }

    function expectSkipped(IPaymentGateway.Order memory order, uint8 reason) internal {
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.SettleSkipped(digestOf(order), reason);
    }

    function unauthorized(address caller) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IAccess.Unauthorized.selector, caller);
    }

    function transferFailed(address token) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, token);
    }

    function inexact(address token, uint256 expected, uint256 received) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(TokenTransfer.InexactTransfer.selector, token, expected, received);
    }

    function balanceUnavailable(address token) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(TokenTransfer.BalanceUnavailable.selector, token);
    }

    /// @notice The ways in which a hostile token is refused, each of which tells something.
    function refusedModes() internal pure returns (HostileToken.Mode[11] memory) {
        return [
            HostileToken.Mode.TakesFee,
            HostileToken.Mode.ReturnsFalse,
            HostileToken.Mode.ReturnsTwo,
            HostileToken.Mode.ReturnsOneByte,
            HostileToken.Mode.ReturnsZeroByte,
            HostileToken.Mode.MovesAndReturnsFalse,
            HostileToken.Mode.LiesAboutMoving,
            HostileToken.Mode.DeliversTooMuch,
            HostileToken.Mode.Robs,
            HostileToken.Mode.Reverts,
            HostileToken.Mode.RevertsWithBomb
        ];
    }

    /// @notice Why a transfer of `amount` is refused when the token behaves like that.
    function refusalOf(HostileToken.Mode mode, address token, uint256 amount) internal pure returns (bytes memory) {
        if (mode == HostileToken.Mode.TakesFee) return inexact(token, amount, amount - (amount / 100 + 1));
        if (mode == HostileToken.Mode.LiesAboutMoving) return inexact(token, amount, 0);
        if (mode == HostileToken.Mode.DeliversTooMuch) return inexact(token, amount, amount + 1);
        if (mode == HostileToken.Mode.Robs) return inexact(token, amount, 0);
        return transferFailed(token);
    }
}
