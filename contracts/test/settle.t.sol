// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {Vm} from "./base/Vm.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract SettleTest is GatewayTest {
    function test_paysTheMerchantAndAccruesTheFee(uint256 seed, address caller) public {
        vm.assume(caller != address(0));
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        waitForStrangers();
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Settled(
            digestOf(order), order.channelId, order.to, order.token, netOf(order), order.fee, order.metaData
        );
        settleAs(caller, order);
        vm.assertEq(balance(order.token, merchant), netOf(order), "merchant");
        vm.assertEq(balance(order.token, address(gateway)), order.fee, "gateway");
        vm.assertEq(gateway.accruedFees(order.token), order.fee, "accrued");
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function test_paysTheVaultForAnotherChain(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, VAULT_PAYOUT);
        pay(order);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Settled(
            digestOf(order), order.channelId, vault, order.token, netOf(order), order.fee, order.metaData
        );
        settleAs(settler, order);
        vm.assertEq(balance(order.token, vault), netOf(order), "vault");
        vm.assertEq(balance(order.token, merchant), 0, "merchant");
        vm.assertEq(gateway.accruedFees(order.token), order.fee, "accrued");
    }

    /// @dev Else a stranger could push the second payment of a session into the vault, instead of back to its payer.
    function test_skips_whenAStrangerSettlesForAnotherChain(uint256 seed, bool byRoute, address caller) public {
        vm.assume(caller != settler && caller != address(this));
        IPaymentGateway.Order memory order = anyOrderOf(seed, byRoute ? CCTP : VAULT_PAYOUT);
        pay(order);
        waitForStrangers();
        bytes32 before = slotOf(order);
        expectSkipped(order, SKIP_NOT_SETTLER);
        settleAs(caller, order);
        vm.assertEq(slotOf(order), before, "the slot is as before");
        vm.assertEq(balance(order.token, address(gateway)), order.total, "gateway");
        settleAs(settler, order);
        vm.assertEq(statusOf(order), SETTLED, "status, later");
    }

    function test_skips_whenARevokedSettlerSettlesForAnotherChain(uint256 seed, bool byRoute) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, byRoute ? CCTP : VAULT_PAYOUT);
        pay(order);
        vm.prank(guardian);
        gateway.setSettler(settler, false);
        expectSkipped(order, SKIP_NOT_SETTLER);
        settleAs(settler, order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    /// @dev Else a merchant settles the second payment of a session in its block, and keeps it.
    function test_skips_whenAStrangerSettlesWithinADay(uint256 seed, uint256 wait, bool isMerchant) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.warp(START + bound(wait, 0, 1 days - 1));
        address caller = isMerchant ? merchant : stranger;
        expectSkipped(order, SKIP_NOT_SETTLER);
        settleAs(caller, order);
        vm.assertEq(statusOf(order), PAID, "status");
        vm.prank(settler);
        gateway.refund(order);
        vm.assertEq(balance(order.token, payer), order.total, "the service can return it");
    }

    function test_settlesForAStrangerADayAfterThePayment(uint256 seed, bool isMerchant) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.warp(START + 1 days);
        settleAs(isMerchant ? merchant : stranger, order);
        vm.assertEq(balance(order.token, merchant), netOf(order), "merchant");
    }

    /// @dev The day counts from the payment, not from what else a payer signs.
    function test_skips_whenAStrangerSettlesWithinADayOfALatePayment(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        vm.warp(order.payBy);
        pay(order);
        vm.warp(uint256(order.payBy) + 1 days - 1);
        expectSkipped(order, SKIP_NOT_SETTLER);
        settleAs(stranger, order);
        vm.warp(uint256(order.payBy) + 1 days);
        settleAs(stranger, order);
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function test_skips_whenARevokedSettlerSettlesWithinADay(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.prank(guardian);
        gateway.setSettler(settler, false);
        expectSkipped(order, SKIP_NOT_SETTLER);
        settleAs(settler, order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_keepsIdAndTimeOfThePayment(uint256 seed, uint256 later) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        bytes32 orderId = pay(order);
        vm.warp(bound(later, START, order.reclaimAt - 1));
        settleOne(order);
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(order.metaData);
        vm.assertEq(status, SETTLED, "status");
        vm.assertEq(paidAt, START, "paid at");
        vm.assertEq(id, uint256(orderId) >> 48, "id");
    }

    function test_settlesInTheLastSecondBeforeReclaimAt(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, [ESCROW, VAULT_PAYOUT, CCTP][orderType % 3]);
        pay(order);
        vm.warp(order.reclaimAt - 1);
        settleAs(settler, order);
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    /// @dev The payer's right to the money has begun: no key comes before it, whatever the type.
    function test_skips_whenReclaimAtHasCome(uint256 seed, uint8 orderType, uint32 later, address caller) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, [ESCROW, VAULT_PAYOUT, CCTP][orderType % 3]);
        pay(order);
        bytes32 before = slotOf(order);
        vm.warp(uint256(order.reclaimAt) + later);
        expectSkipped(order, SKIP_RECLAIMABLE);
        settleAs(later % 2 == 0 ? settler : caller, order);
        vm.assertEq(slotOf(order), before, "the slot is as before");
        vm.prank(caller);
        gateway.reclaim(order);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    function test_settlesWhilePausedAndWithoutSigners(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.startPrank(guardian);
        gateway.pause();
        gateway.setSigner(signer, false);
        gateway.setSettler(settler, false);
        vm.stopPrank();
        waitForStrangers();
        settleAs(stranger, order);
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function test_settlesAnOrderThatIsAllFee(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.total = order.fee = order.payment;
        pay(order);
        settleOne(order);
        vm.assertEq(balance(order.token, merchant), 0, "merchant");
        vm.assertEq(gateway.accruedFees(order.token), order.total, "accrued");
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    /// @dev There is nothing to send, so nobody can refuse it.
    function test_settlesAnOrderThatIsAllFeeForABlockedMerchant(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        order.total = order.fee = order.payment;
        pay(order);
        vm.prank(minter);
        usdc.blacklist(merchant);
        settleOne(order);
        vm.assertEq(statusOf(order), SETTLED, "status");
        vm.assertEq(gateway.accruedFees(address(usdc)), order.total, "accrued");
    }

    function test_skips_whenTheOrderIsUnknown(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        expectSkipped(order, SKIP_UNKNOWN);
        settleOne(order);
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    function test_skips_whenTheMetaDataIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.metaData = bytes32(0);
        expectSkipped(order, SKIP_UNKNOWN);
        settleOne(order);
    }

    function test_skips_whenAnyFieldDiffersFromThePaidOrder(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        bytes memory data = abi.encodeCall(IPaymentGateway.settle, (only(order)));
        // Selector, offset and length come before the order.
        uint256 place = (4 + 64) * 8 + bit % (13 * 256);
        data[place / 8] = bytes1(uint8(data[place / 8]) ^ uint8(1 << (7 - place % 8)));
        vm.recordLogs();
        (bool success,) = callRaw(address(gateway), data);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(success, true, "a batch never reverts over an item, dirty words included");
        vm.assertEq(logs.length, 1, "events");
        vm.assertEq(logs[0].topics[0], IPaymentGateway.SettleSkipped.selector, "event");
        vm.assertEq(abi.decode(logs[0].data, (uint256)), SKIP_UNKNOWN, "reason");
        vm.assertEq(statusOf(order), PAID, "status");
    }

    // proves W4.19
    function test_skips_whenTheOrderIsFinal(uint256 seed, uint8 ending) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, ending % 4 == 3 ? DIRECT : ESCROW);
        pay(order);
        if (ending % 4 == 0) {
            settleOne(order);
        } else if (ending % 4 == 1) {
            vm.prank(settler);
            gateway.refund(order);
        } else if (ending % 4 == 2) {
            vm.warp(order.reclaimAt);
            vm.prank(payer);
            gateway.reclaim(order);
        }
        uint8 before = statusOf(order);
        // Someone else's money, which a second settlement would take.
        IPaymentGateway.Order memory other = anyOrder(~seed);
        other.token = order.token;
        (other.payBy, other.reclaimAt) = (uint64(block.timestamp), uint64(block.timestamp + 2 days));
        pay(other);
        uint256 held = balance(order.token, address(gateway));
        expectSkipped(order, SKIP_FINAL);
        settleOne(order);
        vm.assertEq(statusOf(order), before, "status");
        vm.assertEq(balance(order.token, address(gateway)), held, "gateway");
    }

    function test_boundsTheGasOfOneTransfer(uint256 seed) public {
        (IPaymentGateway.Order memory order, HostileToken token) = paidHostile(seed);
        token.set(HostileToken.Mode.BurnsGas, address(0));
        uint256 gasBefore = gasleft();
        settleOne(order);
        vm.assertLe(gasBefore - gasleft(), TokenTransfer.TRANSFER_GAS + 120_000, "gas");
        vm.assertEq(statusOf(order), PAID, "status");
    }

    /// @dev USDC behind its proxy needs 45,000; nothing that a token does may cost a batch more than this.
    function test_givesATransferExactlyItsAllotment() public {
        (IPaymentGateway.Order memory order, HostileToken token) = paidHostile(1);
        vm.etch(address(token), gasGate(300_000, true));
        settleOne(order);
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function paidHostile(uint256 seed) private returns (IPaymentGateway.Order memory order, HostileToken token) {
        token = new HostileToken();
        order = anyOrderWithNet(seed);
        order.token = address(token);
        pay(order);
    }
}
