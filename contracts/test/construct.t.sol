// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PaymentGateway} from "../src/PaymentGateway.sol";
import {PayoutVault} from "../src/PayoutVault.sol";
import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {Vm} from "./base/Vm.sol";

contract ConstructTest is GatewayTest {
    PaymentGateway internal bare;
    PayoutVault internal bareVault;

    function setUp() public override {
        super.setUp();
        bare = PaymentGateway(deploy("PaymentGateway", abi.encode(controller)));
        bareVault = PayoutVault(deploy("PayoutVault", abi.encode(controller)));
    }

    function test_knowsItsControllerAlone() public view {
        IAccess[2] memory both = [IAccess(address(bare)), IAccess(address(bareVault))];
        for (uint256 i = 0; i < 2; ++i) {
            vm.assertEq(both[i].controller(), controller, "controller");
            vm.assertEq(both[i].pendingController(), address(0), "pending controller");
            vm.assertEq(both[i].guardian(), address(0), "guardian");
            vm.assertEq(both[i].isSettler(controller), false, "settler");
            vm.assertEq(both[i].paused(), true, "paused");
        }
        vm.assertEq(bare.feeRecipient(), address(0), "fee recipient");
        vm.assertEq(bare.isSigner(controller), false, "order signer");
        vm.assertEq(bareVault.isSigner(controller), false, "signer");
        vm.assertEq(gateway.isSigner(address(0)), false, "zero signs");
    }

    function test_announcesTheController() public {
        vm.recordLogs();
        deploy("PaymentGateway", abi.encode(controller));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs.length, 1, "events");
        vm.assertEq(logs[0].topics[0], IAccess.ControllerTransferred.selector, "controller");
        vm.assertEq(logs[0].topics[1], bytes32(0), "from nobody");
        vm.assertEq(logs[0].topics[2], bytes32(uint256(uint160(controller))), "to the controller");
    }

    function test_burnsTheZeroKey() public view {
        (uint8 status, uint40 paidAt, uint208 id) = bare.statusOf(bytes32(0));
        vm.assertEq(status, UNUSABLE, "status");
        vm.assertEq(paidAt, 0, "paid at");
        vm.assertEq(id, 0, "id");
        vm.assertEq(bareVault.isPaidOut(bytes32(0)), true, "vault");
    }

    /// @dev Made by a stranger, or not yet set up: no order is taken, not even one that its controller signs.
    function test_reverts_whenItIsPaidBeforeItIsSetUp() public {
        gateway = bare;
        IPaymentGateway.Order memory order = plainOrder();
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IAccess.ContractPaused.selector));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheVaultPaysBeforeItIsSetUp() public {
        IPayoutVault.Payout[] memory none = new IPayoutVault.Payout[](0);
        vm.expectRevert(abi.encodeWithSelector(IAccess.ContractPaused.selector));
        vm.prank(controller);
        bareVault.payoutBatch(none, new bytes[](0));
    }

    function test_reverts_whenItIsUnpausedWithoutAFeeRecipient() public {
        vm.startPrank(controller);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.FeeRecipientMissing.selector));
        bare.unpause();
        bare.setFeeRecipient(feeRecipient);
        bare.unpause();
        vm.stopPrank();
        vm.assertEq(bare.paused(), false, "paused");
    }

    /// @dev Whoever had it made: only the operator's id sets it up.
    function test_reverts_whenAnyoneElseSetsItUp(address caller) public {
        vm.assume(caller != controller);
        bytes[5] memory calls = [
            abi.encodeCall(IAccess.setSigner, (caller, true)),
            abi.encodeCall(IAccess.setSettler, (caller, true)),
            abi.encodeCall(IAccess.setGuardian, (caller)),
            abi.encodeCall(IPaymentGateway.setFeeRecipient, (caller)),
            abi.encodeCall(IAccess.unpause, ())
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.prank(caller);
            (bool success, bytes memory answer) = address(bare).call(calls[i]);
            vm.assertEq(success, false, "set up by a stranger");
            vm.assertEq(bytes32(bytes4(answer)), bytes32(IAccess.Unauthorized.selector), "reason");
        }
    }

    function test_reverts_whenTheOperatorIdIsZero() public {
        expectError(IAccess.ZeroAddress.selector);
        this.make("PaymentGateway");
        expectError(IAccess.ZeroAddress.selector);
        this.make("PayoutVault");
    }

    function test_reverts_whenItIsSentEther() public {
        (bool success,) = address(gateway).call{value: 1}("");
        vm.assertEq(success, false, "plain ether");
        (success,) = address(gateway).call{value: 1}(abi.encodeCall(IPaymentGateway.withdrawFees, (address(usdc))));
        vm.assertEq(success, false, "ether with a call");
    }

    /// @dev Called from outside: an expected revert of the cheat code that deploys would end the test.
    function make(string calldata name) external {
        deploy(name, abi.encode(address(0)));
    }
}
