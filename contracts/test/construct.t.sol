// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PaymentGateway} from "../src/PaymentGateway.sol";
import {PayoutVault} from "../src/PayoutVault.sol";
import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract ConstructTest is GatewayTest {
    function test_setsTheRoles() public view {
        vm.assertEq(gateway.admin(), admin, "admin");
        vm.assertEq(gateway.pendingAdmin(), address(0), "pending admin");
        vm.assertEq(gateway.guardian(), guardian, "guardian");
        vm.assertEq(gateway.feeRecipient(), feeRecipient, "fee recipient");
        vm.assertEq(gateway.vault(), vault, "vault");
        vm.assertEq(gateway.cctpRoute(), address(route), "cctp route");
        vm.assertEq(gateway.isOrderSigner(signer), true, "order signer");
        vm.assertEq(gateway.isSettler(settler), true, "settler");
        vm.assertEq(gateway.isOrderSigner(settler), false, "settler signs");
        vm.assertEq(gateway.isSettler(signer), false, "signer settles");
        vm.assertEq(gateway.isOrderSigner(address(0)), false, "zero signs");
        vm.assertEq(gateway.paused(), false, "paused");
    }

    function test_announcesTheRoles() public {
        vm.recordLogs();
        new PaymentGateway(admin, signer, settler, guardian, feeRecipient, vault, address(route));
        vm.assertEq(vm.getRecordedLogs().length, 5, "admin, signer, settler, guardian, fee recipient");
    }

    function test_burnsTheZeroKey() public {
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(bytes32(0));
        vm.assertEq(status, BURNT, "status");
        vm.assertEq(paidAt, 0, "paid at");
        vm.assertEq(id, 0, "id");
        vm.assertEq(new PayoutVault(admin, signer, settler, guardian).isPaidOut(bytes32(0)), true, "vault");
    }

    function test_reverts_whenAnAddressIsZero(uint8 which) public {
        address[6] memory roles = [admin, signer, settler, guardian, feeRecipient, vault];
        roles[which % 6] = address(0);
        expectError(IAccess.ZeroAddress.selector);
        new PaymentGateway(roles[0], roles[1], roles[2], roles[3], roles[4], roles[5], address(0));
    }

    function test_reverts_whenAVaultAddressIsZero(uint8 which) public {
        address[4] memory roles = [admin, signer, settler, guardian];
        roles[which % 4] = address(0);
        expectError(IAccess.ZeroAddress.selector);
        new PayoutVault(roles[0], roles[1], roles[2], roles[3]);
    }

    function test_reverts_whenItIsSentEther() public {
        (bool success,) = address(gateway).call{value: 1}("");
        vm.assertEq(success, false, "plain ether");
        (success,) = address(gateway).call{value: 1}(abi.encodeCall(IPaymentGateway.withdrawFees, (address(usdc))));
        vm.assertEq(success, false, "ether with a call");
    }
}
