// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract OrderIdTest is GatewayTest {
    function test_isTheTypedDataDigest(uint256 seed, uint8 orderType) public view {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        vm.assertEq(gateway.orderIdOf(order), digestOf(order), "by abi.encode");
        vm.assertEq(gateway.orderIdOf(order), vm.eip712HashTypedData(json(order)), "by forge's own encoder");
    }

    function test_changesWithTheChain(uint256 seed, uint64 chain) public {
        vm.assume(chain != 0 && chain != block.chainid);
        IPaymentGateway.Order memory order = anyOrder(seed);
        bytes32 here = gateway.orderIdOf(order);
        vm.chainId(chain);
        vm.assertEq(gateway.orderIdOf(order), digestFor(order, address(gateway), chain), "there");
        vm.assertEq(here == gateway.orderIdOf(order), false, "same id on two chains");
    }

    function test_changesWithEveryBit(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        bytes memory data = abi.encodeCall(IPaymentGateway.orderIdOf, (order));
        uint256 place = 32 + bit % (13 * 256);
        data[place / 8] = bytes1(uint8(data[place / 8]) ^ uint8(1 << (7 - place % 8)));
        (bool success, bytes memory answer) = callRaw(address(gateway), data);
        vm.assertEq(success, true, "success");
        vm.assertEq(bytes32(answer) == gateway.orderIdOf(order), false, "a bit that does not count");
    }

    function test_statusIsUnknownForAnotherOrderOfTheSession(uint256 seed, uint256 otherSeed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        IPaymentGateway.Order memory other = anyOrder(otherSeed);
        other.metaData = order.metaData;
        other.payer = stranger;
        vm.assertEq(gateway.orderStatus(order), UNKNOWN, "before");
        pay(order);
        vm.assertEq(gateway.orderStatus(order), PAID, "paid");
        vm.assertEq(gateway.orderStatus(other), UNKNOWN, "the other");
    }

    function json(IPaymentGateway.Order memory order) private view returns (string memory) {
        string memory types =
            '{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],"Order":[{"name":"channelId","type":"bytes32"},{"name":"metaData","type":"bytes32"},{"name":"payer","type":"address"},{"name":"token","type":"address"},{"name":"to","type":"address"},{"name":"total","type":"uint256"},{"name":"payment","type":"uint256"},{"name":"fee","type":"uint256"},{"name":"payBy","type":"uint64"},{"name":"reclaimAt","type":"uint64"},{"name":"orderType","type":"uint8"},{"name":"targetChain","type":"uint64"},{"name":"via","type":"address"}]},"primaryType":"Order","domain":{"name":"Florin PaymentGateway","version":"1","chainId":';
        string memory head = string.concat(
            types,
            vm.toString(block.chainid),
            ',"verifyingContract":"',
            vm.toString(address(gateway)),
            '"},"message":{"channelId":"',
            vm.toString(order.channelId),
            '","metaData":"',
            vm.toString(order.metaData)
        );
        string memory parties = string.concat(
            '","payer":"',
            vm.toString(order.payer),
            '","token":"',
            vm.toString(order.token),
            '","to":"',
            vm.toString(order.to)
        );
        string memory amounts = string.concat(
            '","total":"',
            vm.toString(order.total),
            '","payment":"',
            vm.toString(order.payment),
            '","fee":"',
            vm.toString(order.fee)
        );
        string memory rest = string.concat(
            '","payBy":"',
            vm.toString(order.payBy),
            '","reclaimAt":"',
            vm.toString(order.reclaimAt),
            '","orderType":"',
            vm.toString(uint256(order.orderType)),
            '","targetChain":"',
            vm.toString(order.targetChain),
            '","via":"',
            vm.toString(order.via),
            '"}}'
        );
        return string.concat(head, parties, amounts, rest);
    }
}
