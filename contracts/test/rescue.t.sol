// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IDepositReceiver} from "../src/interfaces/IDepositReceiver.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract RescueTest is SigningTest {
    function test_sendsAShortOrLatePaymentBackAfterTheDeadline(uint256 seed, uint256 amount, address caller) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        amount = bound(amount, 1, MAX_TOTAL);
        address receiver = fundReceiver(order, amount);
        vm.warp(uint256(order.payBy) + 1);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Rescued(digestOf(order), payer, order.token, amount);
        vm.prank(caller);
        gateway.rescue(order, order.token);
        vm.assertEq(balance(order.token, payer), amount, "payer");
        vm.assertEq(balance(order.token, receiver), 0, "receiver");
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    function test_sendsTheExcessBackOnceCollected(uint256 seed, uint256 excess) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        payBy(Way.Deposit, order);
        excess = bound(excess, 1, MAX_TOTAL);
        fundReceiver(order, excess);
        gateway.rescue(order, order.token);
        vm.assertEq(balance(order.token, payer), excess, "payer");
    }

    /// @dev Paid twice: by a signature and by deposit. The deposit goes back.
    function test_sendsTheDepositBackOnceAnotherOrderOfTheSessionWasPaid(uint256 seed, uint256 otherSeed, uint8 wayOf)
        public
    {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        IPaymentGateway.Order memory other = anySignedOrder(otherSeed);
        other.metaData = order.metaData;
        address receiver = fundReceiver(order, order.total);
        vm.assume(receiver != gateway.receiverOf(digestOf(other)));
        payBy(anyWay(wayOf), other);
        gateway.rescue(order, order.token);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    function test_sendsAnotherTokenBackAtAnyTime(uint256 seed, uint256 amount, uint32 later, bool collected) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        amount = bound(amount, 1, MAX_TOTAL);
        address receiver = gateway.receiverOf(digestOf(order));
        give(address(usdt), receiver, amount);
        fundFor(Way.Deposit, order);
        if (collected) gateway.collect(order, sign(order));
        vm.warp(block.timestamp + later);
        gateway.rescue(order, address(usdt));
        vm.assertEq(balance(address(usdt), payer), amount, "payer");
        vm.assertEq(balance(order.token, receiver), collected ? 0 : order.total, "the payment stays");
    }

    function test_sendsCoinBackAtAnyTime(uint256 seed, uint64 amount, bool collected) public {
        vm.assume(amount != 0);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        if (collected) payBy(Way.Deposit, order);
        vm.deal(gateway.receiverOf(digestOf(order)), amount);
        uint256 before = payer.balance;
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Rescued(digestOf(order), payer, address(0), amount);
        gateway.rescue(order, address(0));
        vm.assertEq(payer.balance - before, amount, "payer");
    }

    /// @dev The wrong chain is the commonest mistake of all: the address there is this gateway's as well.
    function test_sendsBackWhatWasMeantForAnotherChain(uint256 seed, uint256 amount, uint64 chain) public {
        vm.assume(chain != 0 && chain != block.chainid);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        amount = bound(amount, 1, MAX_TOTAL);
        bytes32 foreignId = digestFor(order, address(gateway), chain);
        address receiver = gateway.receiverOf(foreignId);
        give(order.token, receiver, amount);
        fundFor(Way.Deposit, order);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Rescued(foreignId, payer, order.token, amount);
        gateway.rescueFromChain(order, order.token, chain);
        vm.assertEq(balance(order.token, payer), amount, "payer");
        vm.assertEq(balance(order.token, gateway.receiverOf(digestOf(order))), order.total, "the payment stays");
        gateway.collect(order, sign(order));
    }

    function test_rescuesWhilePaused(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundReceiver(order, 1);
        vm.prank(guardian);
        gateway.pause();
        vm.warp(uint256(order.payBy) + 1);
        gateway.rescue(order, order.token);
        vm.assertEq(balance(order.token, payer), 1, "payer");
    }

    /// @dev Otherwise anybody could send a payment back in the moment before it is collected.
    function test_reverts_whenTheOrderCanStillBeCollected(uint256 seed, uint256 amount, uint32 later, bool paused)
        public
    {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundReceiver(order, bound(amount, 1, MAX_TOTAL));
        vm.warp(bound(block.timestamp + later, block.timestamp, order.payBy));
        if (paused) {
            vm.prank(guardian);
            gateway.pause();
        }
        bytes memory reason = abi.encodeWithSelector(IPaymentGateway.StillCollectable.selector, digestOf(order));
        vm.expectRevert(reason);
        gateway.rescue(order, order.token);
        vm.expectRevert(reason);
        gateway.rescueFromChain(order, order.token, block.chainid);
    }

    function test_reverts_atTheLastSecondAndNotOneLater(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundReceiver(order, order.total);
        vm.warp(order.payBy);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.StillCollectable.selector, digestOf(order)));
        gateway.rescue(order, order.token);
        vm.warp(uint256(order.payBy) + 1);
        gateway.rescue(order, order.token);
    }

    /// @dev Such an order was never signed: its deposit address is a mistake, and the money would wait for ever.
    function test_sendsBackWhatNoOrderCanTakeYet(uint256 seed, uint64 payBy, uint64 reclaimAt) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.payBy = uint64(bound(payBy, block.timestamp + 120 days + 1, type(uint64).max));
        order.reclaimAt = reclaimAt;
        fundReceiver(order, order.total);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.WrongReclaimTime.selector, order.payBy, order.reclaimAt));
        gateway.collect(order, signature);
        gateway.rescue(order, order.token);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    function test_reverts_from120DaysBeforeTheDeadline(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.payBy = uint64(block.timestamp + 120 days);
        fundReceiver(order, order.total);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.StillCollectable.selector, digestOf(order)));
        gateway.rescue(order, order.token);
        vm.warp(block.timestamp - 1);
        gateway.rescue(order, order.token);
    }

    function test_reverts_whenThereIsNothing(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        address token = [address(usdt), address(0), address(dai)][which % 3];
        address receiver = gateway.receiverOf(digestOf(order));
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NothingToRescue.selector, receiver, token));
        gateway.rescue(order, token);
    }

    function test_reverts_whenThePayerIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.payer = address(0);
        fundReceiver(order, 1);
        vm.warp(uint256(order.payBy) + 1);
        vm.expectRevert(abi.encodeWithSelector(IAccess.ZeroAddress.selector));
        gateway.rescue(order, order.token);
    }

    function test_reverts_whenThePayerIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = address(usdc);
        fundReceiver(order, 1);
        vm.prank(minter);
        usdc.blacklist(payer);
        vm.warp(uint256(order.payBy) + 1);
        vm.expectRevert(abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, address(usdc)));
        gateway.rescue(order, order.token);
    }

    function test_reverts_whenThePayerRefusesCoin(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        // USDC has no way to receive coin.
        order.payer = address(usdc);
        vm.deal(gateway.receiverOf(digestOf(order)), 1);
        vm.expectRevert(abi.encodeWithSelector(IDepositReceiver.CoinRefused.selector, address(usdc)));
        gateway.rescue(order, address(0));
    }

    /// @dev A token without honesty can only be moved to the payer, and never stands for another.
    function test_aTokenThatLiesMovesNothingElse(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        address receiver = fundReceiver(order, order.total);
        HostileToken token = new HostileToken();
        token.mint(receiver, 1);
        token.set(HostileToken.Mode.LiesAboutMoving, address(0));
        gateway.rescue(order, address(token));
        vm.assertEq(balance(order.token, receiver), order.total, "the payment stays");
        gateway.collect(order, sign(order));
    }

    function fundReceiver(IPaymentGateway.Order memory order, uint256 amount) private returns (address receiver) {
        receiver = gateway.receiverOf(digestOf(order));
        give(order.token, receiver, amount);
    }
}
