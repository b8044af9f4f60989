// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {ForgetfulToken} from "./hostile/ForgetfulToken.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract PayTokenTest is GatewayTest {
    function test_reverts_whenTheTokenHasNoCode(uint256 seed, address token) public {
        vm.assume(token.code.length == 0 && uint160(token) > 0xffff);
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = token;
        expectRefused(order, sign(order), abi.encodeWithSelector(TokenTransfer.BalanceUnavailable.selector, token));
    }

    function test_reverts_whenTheAllowanceIsShort(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        give(order.token, payer, order.total);
        allow(order.token, payer, order.total - 1);
        bytes memory signature = sign(order);
        vm.expectRevert(transferFailed(order.token));
        payAs(payer, order, signature);
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    function test_reverts_whenTheBalanceIsShort(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        give(order.token, payer, order.total - 1);
        allow(order.token, payer, order.total);
        expectRefused(order, sign(order), transferFailed(order.token));
    }

    function test_reverts_whenThePayerIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        fund(order);
        vm.prank(minter);
        usdc.blacklist(payer);
        expectRefused(order, sign(order), transferFailed(address(usdc)));
    }

    function test_reverts_whenTheTokenIsPaused(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        fund(order);
        vm.prank(minter);
        usdc.pause();
        expectRefused(order, sign(order), transferFailed(address(usdc)));
    }

    function test_reverts_whenUsdtWakesItsFee(uint256 seed, bool direct) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        order.token = address(usdt);
        (order.total, order.payment, order.fee) = (100e6, 100e6, 1e6);
        fund(order);
        vm.prank(minter);
        usdt.setParams(19, 49);
        uint256 leg = direct ? 99e6 : 100e6;
        expectRefused(order, sign(order), inexact(address(usdt), leg, leg - leg * 19 / 10_000));
    }

    function test_reverts_whenADirectLegComesBackToThePayer(uint256 seed, bool feeLeg) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, DIRECT);
        (order.total, order.payment, order.fee) = (100, 100, 1);
        order.payer = feeLeg ? feeRecipient : merchant;
        fund(order);
        expectRefused(order, sign(order), inexact(order.token, feeLeg ? 1 : 99, 0));
    }

    function test_reverts_whenTheTokenIsHostile(uint256 seed, uint8 orderType) public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        fund(order);
        uint256 leg = order.orderType == DIRECT ? 990 : 1_000;
        // What the recipients hold already is in nobody's way, and can be taken from them.
        token.mint(address(gateway), 7);
        token.mint(merchant, 7);
        HostileToken.Mode[11] memory modes = refusedModes();
        for (uint256 i = 0; i < modes.length; ++i) {
            token.set(modes[i], address(0));
            bytes memory refusal = refusalOf(modes[i], address(token), leg);
            // What it says and what it did are compared.
            if (modes[i] == HostileToken.Mode.MovesAndReturnsFalse) refusal = inexact(address(token), 0, leg);
            expectRefused(order, sign(order), refusal);
        }
        token.set(HostileToken.Mode.BurnsGas, address(0));
        bytes memory data = abi.encodeCall(IPaymentGateway.pay, (order, sign(order)));
        vm.prank(payer);
        (bool success,) = address(gateway).call{gas: 1_000_000}(data);
        vm.assertEq(success, false, "gas burner");
        // A huge answer that begins with true is true, and costs nothing here.
        token.set(HostileToken.Mode.AnswersWithBomb, address(0));
        payAs(payer, order, sign(order));
    }

    function test_reverts_whenTheTokenDoesNotTellABalance() public {
        IPaymentGateway.Order memory order = plainOrder();
        for (uint8 i = 0; i < 9; ++i) {
            // Before the move, after it, or both.
            (uint256 from, uint256 to) = i < 3 ? (0, 1) : i < 6 ? (1, 2) : (0, 2);
            order.token = address(new ForgetfulToken(ForgetfulToken.Answer(i % 3), from, to, payer, order.total));
            bytes memory signature = sign(order);
            vm.expectRevert(balanceUnavailable(order.token));
            payAs(payer, order, signature);
        }
    }

    function test_reverts_whenTheFeeLegIsInexact() public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = anyOrderOf(1, DIRECT);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        fund(order);
        token.set(HostileToken.Mode.TakesFee, feeRecipient);
        expectRefused(order, sign(order), inexact(address(token), 10, 9));
        vm.assertEq(balance(address(token), merchant), 0, "merchant");
    }
}
