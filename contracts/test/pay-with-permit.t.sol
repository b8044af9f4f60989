// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../local/LocalUsdc.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {SigningTest} from "./base/SigningTest.sol";

contract PayWithPermitTest is SigningTest {
    function test_usesExactlyTheAllowanceThatItSets(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        give(order.token, payer, 1_000);
        payBy(Way.Permit, order);
        vm.assertEq(LocalUsdc(order.token).allowance(payer, address(gateway)), 0, "allowance");
        vm.assertEq(balance(order.token, payer), 1_000, "payer");
    }

    /// @dev Whoever copies a permit from the mempool and sends it first gains nothing and stops nothing.
    function test_paysWhenSomebodyElseSentThePermitFirst(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        give(order.token, payer, order.total);
        bytes32 digest = permitDigest(order.token, payer, order.total, 0, order.payBy);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("payer"), digest);
        bytes memory signature = sign(order);
        vm.prank(stranger);
        LocalUsdc(order.token).permit(payer, address(gateway), order.total, order.payBy, v, r, s);
        vm.prank(payer);
        gateway.payWithPermit(order, signature, v, r, s);
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_paysInATokenWithoutPermitsOutOfTheAllowance(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = address(usdt);
        fund(order);
        bytes memory signature = sign(order);
        vm.prank(payer);
        gateway.payWithPermit(order, signature, 27, 0, 0);
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_reverts_whenThePermitIsBadAndThereIsNoAllowance(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        give(order.token, payer, order.total);
        uint256 value = which % 4 == 0 ? order.total - 1 : order.total;
        uint256 nonce = which % 4 == 1 ? 1 : 0;
        uint256 deadline = which % 4 == 2 ? uint256(order.payBy) + 1 : order.payBy;
        uint256 key = which % 4 == 3 ? keyOf("stranger") : keyOf("payer");
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, permitDigest(order.token, payer, value, nonce, deadline));
        bytes memory signature = sign(order);
        vm.expectRevert(transferFailed(order.token));
        vm.prank(payer);
        gateway.payWithPermit(order, signature, v, r, s);
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    /// @dev A stranger with the payer's permit and an order of their own: the permit names no order.
    function test_reverts_whenAStrangerBringsThePermit(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        give(order.token, payer, order.total);
        bytes32 digest = permitDigest(order.token, payer, order.total, 0, order.payBy);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("payer"), digest);
        order.payer = stranger;
        bytes memory signature = sign(order);
        vm.expectRevert(transferFailed(order.token));
        vm.prank(stranger);
        gateway.payWithPermit(order, signature, v, r, s);
        order.payer = payer;
        signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, stranger, payer));
        vm.prank(stranger);
        gateway.payWithPermit(order, signature, v, r, s);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }
}
