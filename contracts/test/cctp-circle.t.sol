// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalCctpMessage} from "../local/LocalCctpMessage.sol";
import {CctpRoute} from "../src/CctpRoute.sol";
import {CctpTest} from "./base/CctpTest.sol";
import {RealCctp} from "./base/RealCctp.sol";

contract CctpCircleTest is CctpTest, RealCctp {
    Circle internal here;
    Circle internal there;
    CctpRoute internal standInRoute;
    address internal standInGateway;

    function setUp() public override {
        CctpTest.setUp();
        here = deployCircle(DOMAIN_HERE, circle, account("attester"));
        there = deployCircle(DOMAIN_THERE, circle, account("attester"));
        vm.startPrank(circle);
        here.messenger.addRemoteTokenMessenger(DOMAIN_THERE, word(address(there.messenger)));
        there.messenger.addRemoteTokenMessenger(DOMAIN_HERE, word(address(here.messenger)));
        here.minter.setMaxBurnAmountPerMessage(address(usdc), LIMIT);
        there.minter.linkTokenPair(address(usdcThere), DOMAIN_HERE, word(address(usdc)));
        vm.stopPrank();
        vm.startPrank(minter);
        usdc.configureMinter(address(here.minter), 0);
        usdcThere.configureMinter(address(there.minter), type(uint256).max);
        vm.stopPrank();

        (standInRoute, standInGateway) = (route, gateway);
        gateway = account("gateway of Circle's route");
        (uint64[] memory chains, uint32[] memory domains) = table();
        route = CctpRoute(deploy("CctpRoute", abi.encode(address(here.messenger), chains, domains, gateway)));
        vm.prank(minter);
        usdc.mint(gateway, FUNDS);
    }

    function test_mintsOnceThroughCirclesContracts(bytes32 orderId, uint256 amount, bytes32 nonce, address to) public {
        vm.assume(orderId != 0 && nonce != 0 && to != address(0));
        amount = bound(amount, 1, LIMIT);
        uint256 supply = usdc.totalSupply();
        vm.recordLogs();
        sendAsGateway(orderId, amount, THERE, to);
        vm.assertEq(usdc.totalSupply(), supply - amount, "burnt");

        bytes memory message = complete(sentMessage(), nonce, 2000);
        vm.chainId(THERE);
        there.transmitter.receiveMessage(message, attest(message));
        vm.assertEq(usdcThere.balanceOf(to), amount, "minted");
        vm.assertEq(usdcThere.totalSupply(), amount, "supply there");
        vm.assertEq(there.transmitter.usedNonces(nonce), 1, "nonce");
        bytes memory attestation = attest(message);
        vm.expectRevert(revertWith("Nonce already used"));
        there.transmitter.receiveMessage(message, attestation);
    }

    function test_theStandInSendsTheSameBytes(bytes32 orderId, uint256 amount, address to) public {
        vm.assume(orderId != 0 && to != address(0));
        amount = bound(amount, 1, LIMIT);
        vm.recordLogs();
        sendAsGateway(orderId, amount, THERE, to);
        bytes memory circles = sentMessage();
        (CctpRoute ours, address oursGateway) = (standInRoute, standInGateway);
        vm.startPrank(oursGateway);
        usdc.approve(address(ours), amount);
        vm.recordLogs();
        ours.send(orderId, address(usdc), amount, THERE, to);
        vm.stopPrank();
        bytes memory standIns = sentMessage();
        // Messengers and routes have other addresses; nothing else may differ.
        write(standIns, 44, word(address(here.messenger)), 32);
        write(standIns, 76, word(address(there.messenger)), 32);
        write(standIns, 148 + 100, word(address(route)), 32);
        vm.assertEq(keccak256(standIns), keccak256(circles), "bytes");
    }

    function test_circleRefusesAsTheStandInDoes(uint256 over) public {
        expectRefused(
            "order", bound(over, LIMIT + 1, FUNDS), THERE, merchant, revertWith("Burn amount exceeds per tx limit")
        );
        vm.prank(circle);
        here.messenger.setMinFee(1);
        expectRefused("order", 5, THERE, merchant, revertWith("Insufficient max fee"));
        vm.startPrank(circle);
        here.messenger.setMinFee(0);
        here.minter.setMaxBurnAmountPerMessage(address(usdc), 0);
        vm.stopPrank();
        expectRefused("order", 5, THERE, merchant, revertWith("Burn token not supported"));
    }

    function test_refusesWhereTheStandInRefuses(uint256 place) public {
        vm.recordLogs();
        sendAsGateway("order", 5, THERE, merchant);
        bytes memory message = complete(sentMessage(), "nonce", 2000);
        bytes memory attestation = attest(message);
        vm.chainId(THERE);
        bytes memory changed = bytes.concat(message);
        changed[place % message.length] ^= hex"01";
        (bool success,) =
            address(there.transmitter).call(abi.encodeCall(there.transmitter.receiveMessage, (changed, attestation)));
        vm.assertEq(success, false, "other bytes");
        write(message, 148 + LocalCctpMessage.FEE_EXECUTED, bytes32(uint256(1)), 32);
        attestation = attest(message);
        vm.expectRevert(revertWith("Fee exceeds max fee"));
        there.transmitter.receiveMessage(message, attestation);
    }

    function word(address value) private pure returns (bytes32) {
        return bytes32(uint256(uint160(value)));
    }
}
