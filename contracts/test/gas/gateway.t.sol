// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {SigningTest} from "../base/SigningTest.sol";

/// @notice What the main operations cost a caller: base cost and calldata included, warm balances (everyone has held
/// the token before), a fee of 1 %, Circle's own USDC behind its proxy, Uniswap's own Permit2. Every call is a
/// transaction of its own. Fails beyond the goal.
/// forge-config: default.isolate = true
contract GatewayGas is SigningTest {
    uint256 private constant BATCH = 50;

    IPaymentGateway.Order internal order;
    IPaymentGateway.Order[] internal batch;
    bytes internal signature;

    function setUp() public override {
        super.setUp();
        usdc = realUsdc;
        address[6] memory holders = [payer, merchant, feeRecipient, vault, address(gateway), stranger];
        for (uint256 i = 0; i < holders.length; ++i) {
            give(address(usdc), holders[i], 1_000_000e6);
        }
        vm.startPrank(payer);
        usdc.approve(address(gateway), 1_000_000e6);
        usdc.approve(PERMIT2, type(uint256).max);
        vm.stopPrank();
        order = plainOrder();
        // One settlement before, as on any gateway that lives: fees have accrued.
        order.metaData = keccak256("earlier");
        payAs(payer, order, sign(order));
        settleOne(order);
        order.metaData = keccak256("earlier, by Permit2");
        gateway.payWithPermit2(order, sign(order), 0, permit2(order, 0));
        order.metaData = keccak256("line items and salt");
        signature = sign(order);
    }

    function test_gas_bareTransfer() public {
        vm.prank(payer);
        usdc.transfer(merchant, 100e6);
        record("bare transfer", 46_000, 1);
    }

    function test_gas_bareTransferFrom() public {
        vm.prank(payer);
        usdc.approve(stranger, 1_000e6);
        vm.prank(stranger);
        usdc.transferFrom(payer, merchant, 100e6);
        record("bare transferFrom", 54_000, 1);
    }

    function test_gas_bareAuthorization() public {
        (bytes memory data,) = transferAuthorization(merchant);
        callAs(stranger, address(usdc), data);
        record("bare transferWithAuthorization", 87_000, 1);
    }

    /// @dev What has to precede a payment by an exact allowance.
    function test_gas_approve() public {
        allow(address(usdc), payer, 0);
        vm.prank(payer);
        usdc.approve(address(gateway), order.total);
        record("approve, before a payment by allowance", 56_000, 1);
    }

    /// @dev The dearest first times at once: a gateway, a fee and a merchant that never had this token.
    function test_gas_firstUse() public {
        gateway = newGateway();
        vm.prank(controller);
        gateway.setSettler(address(this), true);
        order.to = address(uint160(pick(1, 0)));
        allow(address(usdc), payer, order.total);
        payAs(payer, order, sign(order));
        record("pay by allowance, the gateway's first of a token", 115_000, 1);
        settleOne(order);
        record("settle, single, the first of a token and of a merchant", 106_000, 1);
    }

    function test_gas_firstPermit2() public {
        bytes memory permit = permit2(order, 256);
        vm.prank(stranger);
        gateway.payWithPermit2(order, signature, 256, permit);
        record("pay with Permit2, a new word of nonces", 140_000, 1);
    }

    function test_gas_usdt() public {
        order.token = address(usdt);
        give(address(usdt), address(gateway), 1e6);
        give(address(usdt), merchant, 1e6);
        give(address(usdt), payer, 2 * order.total);
        allow(address(usdt), payer, order.total);
        payAs(payer, order, sign(order));
        record("pay by allowance, USDT", 95_000, 1);
        settleOne(order);
        record("settle, single, USDT, its first fees", 88_000, 1);
    }

    function test_gas_pay() public {
        payAs(payer, order, signature);
        record("pay by allowance, more than exact", 100_000, 1);
    }

    /// @dev What the service asks for: an allowance of exactly the total, which the payment uses up.
    function test_gas_payExactAllowance() public {
        allow(address(usdc), payer, order.total);
        payAs(payer, order, signature);
        record("pay by allowance", 95_000, 1);
    }

    function test_gas_payWithPermit() public {
        allow(address(usdc), payer, 0);
        bytes32 digest = permitDigest(address(usdc), payer, order.total, usdc.nonces(payer), order.payBy);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("payer"), digest);
        vm.prank(payer);
        gateway.payWithPermit(order, signature, v, r, s);
        record("pay with permit", 137_000, 1);
    }

    function test_gas_payWithAuthorization() public {
        bytes memory authorization = authorize(order);
        vm.prank(stranger);
        gateway.payWithAuthorization(order, signature, authorization);
        record("pay with authorization", 136_000, 1);
    }

    /// @dev Its transaction is its consent. Granted later than the first signer, as a relayer's wallet would be.
    function test_gas_payWithAuthorizationByAnOrderSigner() public {
        bytes memory authorization = authorize(order);
        vm.prank(controller);
        gateway.setSigner(stranger, true);
        vm.prank(stranger);
        gateway.payWithAuthorization(order, "", authorization);
        record("pay with authorization, sent by an order signer", 129_000, 1);
    }

    function test_gas_payWithPermit2() public {
        bytes memory permit = permit2(order, 1);
        vm.prank(stranger);
        gateway.payWithPermit2(order, signature, 1, permit);
        record("pay with Permit2", 123_000, 1);
    }

    function test_gas_payDirect() public {
        IPaymentGateway.Order memory direct = directOrder();
        payAs(payer, direct, sign(direct));
        record("direct by allowance, more than exact", 117_000, 1);
    }

    function test_gas_payDirectExactAllowance() public {
        IPaymentGateway.Order memory direct = directOrder();
        allow(address(usdc), payer, order.total);
        payAs(payer, direct, sign(direct));
        record("direct by allowance", 112_000, 1);
    }

    function test_gas_payDirectWithAuthorization() public {
        IPaymentGateway.Order memory direct = directOrder();
        bytes memory authorization = authorize(direct);
        vm.prank(stranger);
        gateway.payWithAuthorization(direct, sign(direct), authorization);
        record("direct with authorization", 163_000, 1);
    }

    function test_gas_collect() public {
        give(address(usdc), gateway.receiverOf(digestOf(order)), order.total);
        vm.prank(stranger);
        gateway.collect(order, signature);
        record("collect", 139_000, 1);
    }

    function test_gas_settle() public {
        payAs(payer, order, signature);
        settleOne(order);
        // Only settlers settle within a day of the payment, and reading who is one costs 2,100.
        record("settle, single", 70_600, 1);
    }

    function test_gas_settleBatchToOneMerchant() public {
        payBatch(BATCH);
        gateway.settle(batch);
        record("settle, 50 to one merchant", 15_000, BATCH);
    }

    function test_gas_settleBatchToManyMerchants() public {
        payBatch(0);
        gateway.settle(batch);
        record("settle, 50 to 50 merchants", 28_000, BATCH);
    }

    function test_gas_refund() public {
        payAs(payer, order, signature);
        vm.prank(settler);
        gateway.refund(order);
        record("refund", 64_000, 1);
    }

    function test_gas_reclaim() public {
        payAs(payer, order, signature);
        vm.warp(order.reclaimAt);
        vm.prank(payer);
        gateway.reclaim(order);
        record("reclaim", 62_000, 1);
    }

    function test_gas_refundSettled() public {
        payAs(payer, order, signature);
        settleOne(order);
        vm.startPrank(merchant);
        usdc.approve(address(gateway), 1_000_000e6);
        gateway.refundSettled(order, order.total);
        vm.stopPrank();
        record("refund after settlement", 95_000, 1);
    }

    function directOrder() private view returns (IPaymentGateway.Order memory direct) {
        direct = order;
        direct.orderType = DIRECT;
    }

    /// @dev The bare EIP-3009 transfer that an x402 facilitator sends.
    function transferAuthorization(address to) private view returns (bytes memory data, bytes32 nonce) {
        nonce = keccak256("nonce");
        bytes32 digest = typedDigest(
            address(usdc),
            keccak256(abi.encode(usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(), payer, to, 100e6, 0, order.payBy, nonce))
        );
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("payer"), digest);
        data = abi.encodeCall(LocalUsdc.transferWithAuthorization, (payer, to, 100e6, 0, order.payBy, nonce, v, r, s));
    }

    function callAs(address caller, address target, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = target.call(data);
        vm.assertEq(success, true, "call");
    }

    /// @dev The first `sameMerchant` orders go to one merchant, the others to one each.
    function payBatch(uint256 sameMerchant) private {
        for (uint256 i = 0; i < BATCH; ++i) {
            IPaymentGateway.Order memory item = order;
            item.metaData = keccak256(abi.encode("batch", i));
            if (i >= sameMerchant) {
                item.to = address(uint160(pick(i, 0)));
                give(address(usdc), item.to, 1e6);
            }
            payAs(payer, item, sign(item));
            batch.push(item);
        }
    }

    /// @dev Records the whole transaction; the goal is for each of its orders.
    function record(string memory name, uint256 goal, uint256 orders) private {
        uint256 used = vm.snapshotGasLastCall("gateway", name) / orders;
        vm.assertLe(used, goal, name);
    }
}
