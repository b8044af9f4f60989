// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "../base/GatewayTest.sol";

/// @notice What the main operations cost a caller: base cost and calldata included, warm balances (everyone has held
/// the token before), a fee of 1 %, LocalUsdc. Runs under the profile `gas`, which makes every call a transaction of
/// its own, and fails beyond the goal.
contract GatewayGas is GatewayTest {
    uint256 private constant BATCH = 50;

    IPaymentGateway.Order internal order;
    IPaymentGateway.Order[] internal batch;
    bytes internal signature;

    function setUp() public override {
        super.setUp();
        address[5] memory holders = [payer, merchant, feeRecipient, vault, address(gateway)];
        for (uint256 i = 0; i < holders.length; ++i) {
            give(address(usdc), holders[i], 1_000_000e6);
        }
        vm.prank(payer);
        usdc.approve(address(gateway), 1_000_000e6);
        order = plainOrder();
        // One settlement before, as on any gateway that lives: fees have accrued.
        order.metaData = keccak256("earlier");
        payAs(payer, order, sign(order));
        settleOne(order);
        order.metaData = keccak256("line items and salt");
        signature = sign(order);
    }

    function test_gas_bareTransfer() public {
        vm.prank(payer);
        usdc.transfer(merchant, 100e6);
        record("bare transfer", 45_000, 1);
    }

    function test_gas_bareTransferFrom() public {
        vm.prank(payer);
        usdc.approve(stranger, 1_000e6);
        vm.prank(stranger);
        usdc.transferFrom(payer, merchant, 100e6);
        record("bare transferFrom", 54_000, 1);
    }

    function test_gas_pay() public {
        payAs(payer, order, signature);
        record("pay by allowance", 92_000, 1);
    }

    function test_gas_payDirect() public {
        IPaymentGateway.Order memory direct = order;
        direct.orderType = DIRECT;
        payAs(payer, direct, sign(direct));
        record("direct by allowance", 108_000, 1);
    }

    function test_gas_settle() public {
        payAs(payer, order, signature);
        settleOne(order);
        record("settle, single", 66_000, 1);
    }

    function test_gas_settleBatchToOneMerchant() public {
        payBatch(BATCH);
        gateway.settle(batch);
        record("settle, 50 to one merchant", 13_500, BATCH);
    }

    function test_gas_settleBatchToManyMerchants() public {
        payBatch(0);
        gateway.settle(batch);
        record("settle, 50 to 50 merchants", 45_000, BATCH);
    }

    function test_gas_refund() public {
        payAs(payer, order, signature);
        vm.prank(settler);
        gateway.refund(order);
        record("refund", 66_000, 1);
    }

    function test_gas_reclaim() public {
        payAs(payer, order, signature);
        vm.warp(order.reclaimAt);
        vm.prank(payer);
        gateway.reclaim(order);
        record("reclaim", 66_000, 1);
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
