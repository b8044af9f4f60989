// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PaymentGateway} from "../src/PaymentGateway.sol";
import {PayoutVault} from "../src/PayoutVault.sol";
import {IERC20} from "../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

/// @notice Takes both controller roles, settles what is open and empties the vault, in one transaction.
contract ControllerSweep {
    function takeOver(PaymentGateway gateway, PayoutVault vault) external {
        gateway.acceptController();
        vault.acceptController();
    }

    function sweep(PaymentGateway gateway, PayoutVault vault, IPaymentGateway.Order[] calldata orders, address to)
        external
    {
        gateway.setSettler(address(this), true);
        gateway.settle(orders);
        address token = orders[0].token;
        vault.withdraw(token, to, IERC20(token).balanceOf(address(vault)));
    }
}

/// @notice What the payer and the merchant trust the operator with, exactly: money of type 2, from its payment to its
/// `reclaimAt`. Everything else is out of reach of every key.
contract TrustTest is GatewayTest {
    PayoutVault internal realVault;

    function setUp() public override {
        super.setUp();
        realVault = newVault(controller, signer, settler, guardian);
        vault = address(realVault);
        gateway = newGateway();
    }

    /// @dev The controller alone, in one transaction: why it belongs behind a time lock.
    function test_theControllerCanTakeOpenOrdersOfTypeTwo() public {
        IPaymentGateway.Order[] memory orders = paidOrders(VAULT_PAYOUT);
        vm.warp(orders[0].reclaimAt - 1);
        sweep(orders);
        vm.assertEq(balance(address(usdc), stranger), 3 * 99e6, "the thief");
        vm.assertEq(balance(address(usdc), merchant), 0, "merchant");
    }

    /// @dev From `reclaimAt` on not even the controller comes before the payer.
    function test_noKeyTakesOrdersThatCanBeReclaimed(uint8 orderType, uint32 later) public {
        IPaymentGateway.Order[] memory orders = paidOrders([ESCROW, VAULT_PAYOUT, CCTP][orderType % 3]);
        vm.warp(uint256(orders[0].reclaimAt) + later);
        sweep(orders);
        vm.assertEq(balance(address(usdc), stranger), 0, "the thief");
        for (uint256 i = 0; i < orders.length; ++i) {
            vm.prank(stranger);
            gateway.reclaim(orders[i]);
        }
        vm.assertEq(balance(address(usdc), payer), 3 * 100e6, "payer");
    }

    function test_noKeyRedirectsOrdersOfTypeZero() public {
        IPaymentGateway.Order[] memory orders = paidOrders(ESCROW);
        sweep(orders);
        vm.assertEq(balance(address(usdc), stranger), 0, "the thief");
        vm.assertEq(balance(address(usdc), merchant), 3 * 99e6, "merchant");
    }

    function test_noKeyRedirectsOrdersOfTypeThree() public {
        IPaymentGateway.Order[] memory orders = paidOrders(CCTP);
        sweep(orders);
        vm.assertEq(balance(address(usdc), stranger), 0, "the thief");
        vm.assertEq(balance(address(usdc), route.NOBODY()), 3 * 99e6, "burnt for the merchant");
    }

    /// @dev Nothing here redirects money, so nothing here helps a payer whom the token blocks: the token's issuer can.
    function test_aPaymentWhosePayerIsBlockedWaitsForTheIssuer(uint8 orderType) public {
        IPaymentGateway.Order[] memory orders = paidOrders([ESCROW, VAULT_PAYOUT, CCTP][orderType % 3]);
        IPaymentGateway.Order memory order = orders[0];
        vm.prank(minter);
        usdc.blacklist(payer);
        vm.warp(order.reclaimAt);
        sweep(orders);
        bytes memory reason = abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, address(usdc));
        vm.prank(settler);
        vm.expectRevert(reason);
        gateway.refund(order);
        vm.expectRevert(reason);
        gateway.reclaim(order);
        vm.prank(minter);
        usdc.unBlacklist(payer);
        gateway.reclaim(order);
        vm.assertEq(balance(address(usdc), payer), 100e6, "payer");
    }

    /// @dev The two keys of the service, without the controller, within the vault's caps.
    function test_signerAndSettlerTogetherCanTakeOpenOrdersOfTypeTwo() public {
        IPaymentGateway.Order memory order = paidOrders(VAULT_PAYOUT)[0];
        vm.prank(controller);
        realVault.setCaps(address(usdc), 1_000e6, 1_000e6, 1_000e6);
        settleAs(settler, order);
        IPayoutVault.Payout memory p = IPayoutVault.Payout({
            orderId: keccak256("an order that never was"),
            channelId: 0,
            metaData: 0,
            sourceChain: OTHER_CHAIN,
            token: address(usdc),
            to: stranger,
            amount: 99e6,
            deadline: uint64(block.timestamp + 1 days)
        });
        bytes memory signature = signDigest(keyOf("order signer"), realVault.payoutDigest(p));
        vm.prank(settler);
        realVault.payout(p, signature);
        vm.assertEq(balance(address(usdc), stranger), 99e6, "anybody");
    }

    /// @dev The second payment of a session, on another chain, goes back to its payer, whoever is quick.
    function test_aMerchantCannotKeepADoublePayment(bool isMerchant) public {
        IPaymentGateway.Order memory order = plainOrder();
        pay(order);
        vm.chainId(OTHER_CHAIN);
        gateway = newGateway();
        order.targetChain = OTHER_CHAIN;
        pay(order);
        expectSkipped(order, SKIP_NOT_SETTLER);
        settleAs(isMerchant ? merchant : stranger, order);
        vm.prank(settler);
        gateway.refund(order);
        vm.assertEq(balance(address(usdc), payer), order.total, "payer");
        vm.assertEq(balance(address(usdc), merchant), 0, "merchant");
    }

    /// @dev A fee that wakes after the payment is kept out of what arrives: orders still leave, and others lose nothing.
    function test_aTokenThatBeginsToTakeAFeeStopsNoSettlement() public {
        IPaymentGateway.Order memory order = plainOrder();
        order.token = address(usdt);
        pay(order);
        vm.prank(minter);
        usdt.setParams(19, 49);
        settleAs(settler, order);
        vm.assertEq(balance(address(usdt), merchant), 99e6 - 99e6 * 19 / 10_000, "merchant");
        vm.assertEq(balance(address(usdt), address(gateway)), order.fee, "gateway");
    }

    function paidOrders(uint8 orderType) private returns (IPaymentGateway.Order[] memory orders) {
        orders = new IPaymentGateway.Order[](3);
        for (uint256 i = 0; i < orders.length; ++i) {
            orders[i] = plainOrder();
            orders[i].metaData = keccak256(abi.encode(i));
            orders[i].orderType = orderType;
            if (orderType >= VAULT_PAYOUT) orders[i].targetChain = OTHER_CHAIN;
            orders[i].via = viaOf(orderType);
            pay(orders[i]);
        }
    }

    function sweep(IPaymentGateway.Order[] memory orders) private {
        ControllerSweep thief = new ControllerSweep();
        vm.startPrank(controller);
        gateway.transferController(address(thief));
        realVault.transferController(address(thief));
        vm.stopPrank();
        thief.takeOver(gateway, realVault);
        thief.sweep(gateway, realVault, orders, stranger);
    }
}
