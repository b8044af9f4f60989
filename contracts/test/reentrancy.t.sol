// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayoutVault} from "../src/PayoutVault.sol";
import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";
import {ReentrantWallet} from "./hostile/wallets.sol";

/// @notice Tokens that call sender or receiver during a transfer, as ERC-777 does, before or after it. The wallet
/// holds every role it needs, so that nothing but the lock can stop it.
contract ReentrancyTest is GatewayTest {
    HostileToken internal token;
    ReentrantWallet internal wallet;

    function setUp() public override {
        super.setUp();
        token = new HostileToken();
        wallet = new ReentrantWallet();
        token.setHook(wallet);
        vm.prank(controller);
        gateway.setSettler(address(wallet), true);
    }

    function test_pay_cannotBeReentered(uint256 seed, uint8 into, bool direct, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, direct ? DIRECT : ESCROW);
        fund(order);
        bytes memory data = abi.encodeCall(IPaymentGateway.pay, (order, sign(order)));
        arm(seed, into, afterwards);
        wallet.execute(address(gateway), data);
        expectLocked(direct ? SETTLED : PAID, order);
    }

    function test_nothingCanBeEnteredWhilePaying() public {
        for (uint8 into = 0; into < 11; ++into) {
            IPaymentGateway.Order memory order = walletOrder(into, ESCROW);
            fund(order);
            bytes memory data = abi.encodeCall(IPaymentGateway.pay, (order, sign(order)));
            arm(100 + into, into, false);
            wallet.execute(address(gateway), data);
            expectLocked(PAID, order);
            token.set(HostileToken.Mode.Honest, address(0));
        }
    }

    function test_collect_cannotBeReentered(uint256 seed, uint8 into, bool direct, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, direct ? DIRECT : ESCROW);
        give(order.token, gateway.receiverOf(digestOf(order)), order.total);
        arm(seed, into, afterwards);
        gateway.collect(order, sign(order));
        expectLocked(direct ? SETTLED : PAID, order);
    }

    function test_payWithAuthorization_cannotBeReentered(uint256 seed, uint8 into, bool direct, bool afterwards)
        public
    {
        IPaymentGateway.Order memory order = walletOrder(seed, direct ? DIRECT : ESCROW);
        fund(order);
        arm(seed, into, afterwards);
        gateway.payWithAuthorization(order, sign(order), new bytes(65));
        expectLocked(direct ? SETTLED : PAID, order);
    }

    function test_rescue_cannotBeReentered(uint256 seed, uint8 into, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        pay(order);
        give(order.token, gateway.receiverOf(digestOf(order)), 1);
        arm(seed, into, afterwards);
        gateway.rescue(order, order.token);
        expectLocked(PAID, order);
    }

    /// @dev The payer's wallet is called with the chain's coin.
    function test_rescueOfCoin_cannotBeReentered(uint256 seed, uint8 into) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        vm.deal(gateway.receiverOf(digestOf(order)), 1);
        arm(seed, into, false);
        gateway.rescue(order, address(0));
        expectLocked(UNKNOWN, order);
    }

    function test_refundSettled_cannotBeReentered(uint256 seed, uint8 into, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        payAndSettle(order);
        give(address(token), merchant, order.total);
        allow(address(token), merchant, order.total);
        arm(seed, into, afterwards);
        vm.prank(merchant);
        gateway.refundSettled(order, order.total);
        expectLocked(SETTLED, order);
    }

    function test_settle_cannotBeReentered(uint256 seed, uint8 into, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        pay(order);
        arm(seed, into, afterwards);
        settleOne(order);
        expectLocked(SETTLED, order);
    }

    function test_refund_cannotBeReentered(uint256 seed, uint8 into, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        pay(order);
        arm(seed, into, afterwards);
        vm.prank(settler);
        gateway.refund(order);
        expectLocked(REFUNDED, order);
    }

    function test_reclaim_cannotBeReentered(uint256 seed, uint8 into, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        pay(order);
        arm(seed, into, afterwards);
        vm.warp(order.reclaimAt);
        wallet.execute(address(gateway), abi.encodeCall(IPaymentGateway.reclaim, (order)));
        expectLocked(RECLAIMED, order);
    }

    function test_withdrawFees_cannotBeReentered(uint256 seed, uint8 into, bool afterwards) public {
        IPaymentGateway.Order memory order = walletOrder(seed, ESCROW);
        pay(order);
        settleOne(order);
        arm(seed, into, afterwards);
        gateway.withdrawFees(address(token));
        expectLocked(SETTLED, order);
    }

    function test_vault_cannotBeReentered(uint256 seed, bool batch, bool afterwards) public {
        PayoutVault payoutVault = newVault(controller, signer, address(wallet), guardian);
        vm.prank(controller);
        payoutVault.setCaps(address(token), 1_000, 10_000, 10_000);
        token.mint(address(payoutVault), 10_000);
        IPayoutVault.Payout memory p = IPayoutVault.Payout({
            orderId: keccak256(abi.encode(seed)),
            channelId: 0,
            metaData: 0,
            sourceChain: OTHER_CHAIN,
            token: address(token),
            to: merchant,
            amount: 1_000,
            deadline: uint64(block.timestamp + 1 days)
        });
        bytes memory first =
            abi.encodeCall(IPayoutVault.payout, (p, signDigest(keyOf("order signer"), payoutVault.payoutDigest(p))));
        p.orderId = keccak256(abi.encode(p.orderId));
        IPayoutVault.Payout[] memory payouts = new IPayoutVault.Payout[](1);
        bytes[] memory signatures = new bytes[](1);
        (payouts[0], signatures[0]) = (p, signDigest(keyOf("order signer"), payoutVault.payoutDigest(p)));
        bytes memory second = batch
            ? abi.encodeCall(IPayoutVault.payoutBatch, (payouts, signatures))
            : abi.encodeCall(IPayoutVault.payout, (p, signatures[0]));
        token.set(afterwards ? HostileToken.Mode.CallsAfter : HostileToken.Mode.CallsBefore, address(0));
        wallet.arm(address(payoutVault), second);
        wallet.execute(address(payoutVault), first);
        vm.assertEq(wallet.called(), true, "the wallet was not called");
        vm.assertEq(wallet.succeeded(), false, "reentered");
        vm.assertEq(bytes32(wallet.failure()), bytes32(IAccess.Reentered.selector), "reason");
        vm.assertEq(token.balanceOf(merchant), 1_000, "merchant");
        // The lock ends with the call.
        wallet.execute(address(payoutVault), second);
        vm.assertEq(token.balanceOf(merchant), 2_000, "merchant, later");
    }

    /// @dev The controller's own wallet is called, with money on its way out by either function.
    function test_vaultWithdraw_cannotBeReentered(bool afterwards) public {
        PayoutVault payoutVault =
            PayoutVault(deploy("PayoutVault", abi.encode(address(wallet), signer, address(wallet), guardian)));
        wallet.execute(
            address(payoutVault), abi.encodeCall(IPayoutVault.setCaps, (address(token), 1_000, 10_000, 10_000))
        );
        token.mint(address(payoutVault), 10_000);
        token.set(afterwards ? HostileToken.Mode.CallsAfter : HostileToken.Mode.CallsBefore, address(0));
        bytes memory withdraw = abi.encodeCall(IPayoutVault.withdraw, (address(token), merchant, 1_000));
        wallet.arm(address(payoutVault), withdraw);
        wallet.execute(address(payoutVault), withdraw);
        vm.assertEq(wallet.called(), true, "the wallet was not called");
        vm.assertEq(wallet.succeeded(), false, "reentered");
        vm.assertEq(bytes32(wallet.failure()), bytes32(IAccess.Reentered.selector), "reason");
        vm.assertEq(token.balanceOf(merchant), 1_000, "merchant");
    }

    function walletOrder(uint256 seed, uint8 orderType) private view returns (IPaymentGateway.Order memory order) {
        order = anyOrderOf(seed, orderType);
        order.token = address(token);
        order.payer = address(wallet);
        order.fee = bound(order.fee, 2, MAX_TOTAL / 4);
        order.total = order.payment + order.fee;
    }

    /// @dev Another order of the wallet is open, and the wallet will try to use it from within the next transfer.
    function arm(uint256 seed, uint8 into, bool afterwards) private {
        IPaymentGateway.Order memory other = walletOrder(pick(seed, 77), ESCROW);
        pay(other);
        IPaymentGateway.Order memory unpaid = other;
        bytes[11] memory calls;
        calls[0] = abi.encodeCall(IPaymentGateway.settle, (only(other)));
        calls[1] = abi.encodeCall(IPaymentGateway.refund, (other));
        calls[2] = abi.encodeCall(IPaymentGateway.reclaim, (other));
        calls[3] = abi.encodeCall(IPaymentGateway.withdrawFees, (address(token)));
        unpaid.metaData = keccak256("unpaid");
        fund(unpaid);
        allow(address(token), address(wallet), MAX_TOTAL * 4);
        calls[4] = abi.encodeCall(IPaymentGateway.pay, (unpaid, sign(unpaid)));
        calls[5] = abi.encodeCall(IPaymentGateway.payWithPermit, (unpaid, sign(unpaid), 27, 0, 0));
        calls[6] = abi.encodeCall(IPaymentGateway.payWithAuthorization, (unpaid, sign(unpaid), new bytes(65)));
        give(address(token), gateway.receiverOf(digestOf(unpaid)), unpaid.total);
        calls[7] = abi.encodeCall(IPaymentGateway.collect, (unpaid, sign(unpaid)));
        give(address(token), gateway.receiverOf(digestOf(other)), 1);
        calls[8] = abi.encodeCall(IPaymentGateway.rescue, (other, address(token)));
        calls[9] = abi.encodeCall(IPaymentGateway.payWithPermit2, (unpaid, sign(unpaid), 0, ""));
        calls[10] = abi.encodeCall(IPaymentGateway.refundSettled, (other, 1));
        token.set(afterwards ? HostileToken.Mode.CallsAfter : HostileToken.Mode.CallsBefore, address(0));
        wallet.arm(address(gateway), calls[into % 11]);
    }

    function expectLocked(uint8 status, IPaymentGateway.Order memory order) private view {
        vm.assertEq(wallet.called(), true, "the wallet was not called");
        vm.assertEq(wallet.succeeded(), false, "reentered");
        vm.assertEq(bytes32(wallet.failure()), bytes32(IAccess.Reentered.selector), "reason");
        vm.assertEq(statusOf(order), status, "the outer call went through");
    }
}
