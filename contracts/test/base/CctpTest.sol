// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalCctpMessage} from "../../local/LocalCctpMessage.sol";
import {LocalMessageTransmitter} from "../../local/LocalMessageTransmitter.sol";
import {LocalTokenMessenger} from "../../local/LocalTokenMessenger.sol";
import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {CctpRoute} from "../../src/CctpRoute.sol";
import {Test} from "./Test.sol";
import {Vm} from "./Vm.sol";

/// @notice Memory in, calldata out, for a library that reads calldata.
contract MessageReader {
    function read(bytes calldata message)
        external
        pure
        returns (LocalCctpMessage.Header memory header, LocalCctpMessage.Burn memory burn, bytes memory hookData)
    {
        bytes calldata body;
        (header, body) = LocalCctpMessage.decode(message);
        (burn, hookData) = LocalCctpMessage.decodeBurn(body);
    }
}

/// @notice A route with its gateway's money, Circle's stand-ins, and an attester. One EVM plays both chains: `HERE` is
/// where the route burns and `THERE` where its messages mint, so each chain has its own stand-ins.
abstract contract CctpTest is Test {
    uint64 internal constant HERE = 1;
    uint64 internal constant THERE = 8453;
    uint64 internal constant FAR = 137;
    uint32 internal constant DOMAIN_HERE = 0;
    uint32 internal constant DOMAIN_THERE = 6;
    uint32 internal constant DOMAIN_FAR = 7;
    uint256 internal constant LIMIT = 10_000_000e6;
    uint256 internal constant FUNDS = 1e15;

    address internal merchant = account("merchant");
    address internal stranger = account("stranger");
    address internal minter = account("minter");
    address internal circle = account("circle");

    LocalUsdc internal usdc;
    LocalUsdc internal usdcThere;
    LocalMessageTransmitter internal transmitter;
    LocalMessageTransmitter internal transmitterThere;
    LocalTokenMessenger internal messenger;
    CctpRoute internal route;
    address internal gateway = account("gateway");
    MessageReader internal reader;

    function setUp() public virtual {
        vm.chainId(HERE);
        vm.warp(1_800_000_000);
        reader = new MessageReader();
        usdc = new LocalUsdc("USD Coin", "USDC", minter);
        usdcThere = new LocalUsdc("USD Coin", "USDC", minter);
        (uint64[] memory chains, uint32[] memory domains) = table();
        transmitter = new LocalMessageTransmitter(circle, account("attester"), chains, domains);
        vm.chainId(THERE);
        transmitterThere = new LocalMessageTransmitter(circle, account("attester"), chains, domains);
        vm.chainId(HERE);
        messenger = new LocalTokenMessenger(circle, address(transmitter));
        route = CctpRoute(deploy("CctpRoute", abi.encode(address(messenger), chains, domains, gateway)));

        vm.startPrank(minter);
        usdc.mint(gateway, FUNDS);
        usdc.configureMinter(address(messenger), 0);
        usdcThere.configureMinter(address(messenger), type(uint256).max);
        vm.stopPrank();
        vm.prank(circle);
        messenger.setMaxBurnAmountPerMessage(address(usdc), LIMIT);
    }

    function table() internal pure returns (uint64[] memory chains, uint32[] memory domains) {
        (chains, domains) = (new uint64[](3), new uint32[](3));
        (chains[0], chains[1], chains[2]) = (HERE, THERE, FAR);
        (domains[0], domains[1], domains[2]) = (DOMAIN_HERE, DOMAIN_THERE, DOMAIN_FAR);
    }

    /// @notice Approves and sends as the gateway does.
    function sendAsGateway(bytes32 orderId, uint256 amount, uint64 targetChain, address to) internal {
        vm.startPrank(gateway);
        usdc.approve(address(route), amount);
        route.send(orderId, address(usdc), amount, targetChain, to);
        vm.stopPrank();
    }

    /// @notice As above, for a call that must be refused with `reason` and change nothing.
    function expectRefused(bytes32 orderId, uint256 amount, uint64 targetChain, address to, bytes memory reason)
        internal
    {
        uint256 supply = usdc.totalSupply();
        uint256 funds = usdc.balanceOf(gateway);
        vm.prank(gateway);
        usdc.approve(address(route), amount);
        vm.expectRevert(reason);
        vm.prank(gateway);
        route.send(orderId, address(usdc), amount, targetChain, to);
        vm.assertEq(usdc.totalSupply(), supply, "a refused call burnt");
        vm.assertEq(usdc.balanceOf(gateway), funds, "a refused call took money");
    }

    /// @notice The message of the only burn since `vm.recordLogs`.
    function sentMessage() internal returns (bytes memory message) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 found;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != LocalMessageTransmitter.MessageSent.selector) continue;
            message = abi.decode(logs[i].data, (bytes));
            ++found;
        }
        vm.assertEq(found, 1, "messages sent");
    }

    /// @notice What Circle's attestation service does: fills in nonce and finality.
    function complete(bytes memory message, bytes32 nonce, uint32 finality) internal pure returns (bytes memory) {
        bytes memory copied = bytes.concat(message);
        write(copied, LocalCctpMessage.NONCE, nonce, 32);
        write(copied, LocalCctpMessage.FINALITY_EXECUTED, bytes32(uint256(finality) << 224), 4);
        return copied;
    }

    function write(bytes memory target, uint256 start, bytes32 word, uint256 size) internal pure {
        for (uint256 i = 0; i < size; ++i) {
            target[start + i] = word[i];
        }
    }

    function attest(bytes memory message) internal pure returns (bytes memory) {
        return signDigest(keyOf("attester"), keccak256(message));
    }

    function revertWith(string memory reason) internal pure returns (bytes memory) {
        return abi.encodeWithSignature("Error(string)", reason);
    }

    /// @dev The stand-in messenger has one address on both chains, and here both are in one EVM: its second
    /// transmitter is put into its code's place by deploying a twin for `THERE` at the same address.
    function atTarget() internal {
        vm.chainId(THERE);
        LocalTokenMessenger twin = new LocalTokenMessenger(circle, address(transmitterThere));
        vm.etch(address(messenger), address(twin).code);
        vm.prank(circle);
        messenger.linkTokenPair(address(usdcThere), DOMAIN_HERE, bytes32(uint256(uint160(address(usdc)))));
    }
}
