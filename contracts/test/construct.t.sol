// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PaymentGateway} from "../src/PaymentGateway.sol";
import {PayoutVault} from "../src/PayoutVault.sol";
import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {Vm} from "./base/Vm.sol";

contract ConstructTest is GatewayTest {
    function test_setsTheRoles() public view {
        vm.assertEq(gateway.admin(), admin, "admin");
        vm.assertEq(gateway.pendingAdmin(), address(0), "pending admin");
        vm.assertEq(gateway.guardian(), guardian, "guardian");
        vm.assertEq(gateway.feeRecipient(), feeRecipient, "fee recipient");
        vm.assertEq(gateway.isOrderSigner(signer), true, "order signer");
        vm.assertEq(gateway.isSettler(settler), true, "settler");
        vm.assertEq(gateway.isOrderSigner(settler), false, "settler signs");
        vm.assertEq(gateway.isSettler(signer), false, "signer settles");
        vm.assertEq(gateway.isOrderSigner(address(0)), false, "zero signs");
        vm.assertEq(gateway.paused(), false, "paused");
    }

    function test_announcesTheRoles() public {
        vm.recordLogs();
        deploy("PaymentGateway", abi.encode(admin, signer, settler, guardian, feeRecipient));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs.length, 5, "admin, signer, settler, guardian, fee recipient");
        vm.assertEq(logs[0].topics[0], IAccess.AdminTransferred.selector, "admin");
        vm.assertEq(logs[0].topics[1], bytes32(0), "from nobody");
        vm.assertEq(logs[0].topics[2], bytes32(uint256(uint160(admin))), "to the admin");
    }

    function test_burnsTheZeroKey() public {
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(bytes32(0));
        vm.assertEq(status, BURNT, "status");
        vm.assertEq(paidAt, 0, "paid at");
        vm.assertEq(id, 0, "id");
        vm.assertEq(
            PayoutVault(deploy("PayoutVault", abi.encode(admin, signer, settler, guardian))).isPaidOut(bytes32(0)),
            true,
            "vault"
        );
    }

    function test_reverts_whenAnAddressIsZero() public {
        for (uint256 i = 0; i < 5; ++i) {
            address[5] memory roles = [admin, signer, settler, guardian, feeRecipient];
            roles[i] = address(0);
            expectError(IAccess.ZeroAddress.selector);
            this.makeGateway(roles);
        }
    }

    function test_reverts_whenAVaultAddressIsZero() public {
        for (uint256 i = 0; i < 4; ++i) {
            address[4] memory roles = [admin, signer, settler, guardian];
            roles[i] = address(0);
            expectError(IAccess.ZeroAddress.selector);
            this.makeVault(roles);
        }
    }

    function test_reverts_whenItIsSentEther() public {
        (bool success,) = address(gateway).call{value: 1}("");
        vm.assertEq(success, false, "plain ether");
        (success,) = address(gateway).call{value: 1}(abi.encodeCall(IPaymentGateway.withdrawFees, (address(usdc))));
        vm.assertEq(success, false, "ether with a call");
    }

    /// @dev Called from outside: an expected revert of the cheat code that deploys would end the test.
    function makeGateway(address[5] calldata roles) external {
        deploy("PaymentGateway", abi.encode(roles[0], roles[1], roles[2], roles[3], roles[4]));
    }

    function makeVault(address[4] calldata roles) external {
        deploy("PayoutVault", abi.encode(roles[0], roles[1], roles[2], roles[3]));
    }
}
