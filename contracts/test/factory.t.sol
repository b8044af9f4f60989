// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GatewayFactory} from "../src/GatewayFactory.sol";
import {PaymentGateway} from "../src/PaymentGateway.sol";
import {PayoutVault} from "../src/PayoutVault.sol";
import {IGatewayFactory} from "../src/interfaces/IGatewayFactory.sol";
import {Test} from "./base/Test.sol";

contract FactoryTest is Test {
    GatewayFactory internal factory;

    function setUp() public {
        factory = GatewayFactory(deploy("GatewayFactory", ""));
    }

    function test_makesBothContractsOfAnOperator(address operatorId, address caller) public {
        vm.assume(operatorId != address(0));
        (address gateway, address vault) = factory.addressesOf(operatorId);
        vm.expectEmit(address(factory));
        emit IGatewayFactory.Deployed(operatorId, gateway, vault);
        vm.prank(caller);
        (address madeGateway, address madeVault) = factory.deploy(operatorId);
        vm.assertEq(madeGateway, gateway, "gateway");
        vm.assertEq(madeVault, vault, "vault");
        vm.assertEq(PaymentGateway(gateway).controller(), operatorId, "the gateway's controller");
        vm.assertEq(PayoutVault(vault).controller(), operatorId, "the vault's controller");
    }

    /// @dev EIP-1014 written out, with the code that the compiler gives for deployment.
    function test_putsThemWhereTheirCodeAndTheIdSay(address operatorId) public view {
        (address gateway, address vault) = factory.addressesOf(operatorId);
        vm.assertEq(gateway, derive("PaymentGateway", operatorId), "gateway");
        vm.assertEq(vault, derive("PayoutVault", operatorId), "vault");
    }

    /// @dev Neither the chain nor what happened there before changes an address or a byte of the code.
    function test_makesTheSameOnEveryChain(address operatorId, uint64 chain, uint32 time) public {
        vm.assume(operatorId != address(0) && chain != 0);
        (address gateway, address vault) = factory.addressesOf(operatorId);
        uint256 clean = vm.snapshotState();
        factory.deploy(operatorId);
        (bytes32 gatewayHash, bytes32 vaultHash) = (gateway.codehash, vault.codehash);
        vm.revertToState(clean);
        vm.chainId(chain);
        vm.warp(time);
        factory.deploy(account("another operator"));
        (address gatewayThere, address vaultThere) = factory.deploy(operatorId);
        vm.assertEq(gatewayThere, gateway, "gateway");
        vm.assertEq(vaultThere, vault, "vault");
        vm.assertEq(gateway.codehash, gatewayHash, "the gateway's code");
        vm.assertEq(vault.codehash, vaultHash, "the vault's code");
    }

    function test_keepsOperatorsApart(address one, address other) public {
        vm.assume(one != address(0) && other != address(0) && one != other);
        (address gateway, address vault) = factory.deploy(one);
        (address otherGateway, address otherVault) = factory.deploy(other);
        vm.assertEq(gateway == otherGateway || vault == otherVault, false, "shared");
        vm.assertEq(PaymentGateway(gateway).controller(), one, "controller");
        vm.assertEq(PaymentGateway(otherGateway).controller(), other, "the other's controller");
    }

    function test_reverts_whenTheOperatorHasThem(address operatorId) public {
        vm.assume(operatorId != address(0));
        factory.deploy(operatorId);
        vm.expectRevert(abi.encodeWithSelector(IGatewayFactory.AlreadyDeployed.selector, operatorId));
        factory.deploy(operatorId);
    }

    function test_reverts_whenTheOperatorIdIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IGatewayFactory.ZeroOperatorId.selector));
        factory.deploy(address(0));
    }

    /// @dev A factory that lacks one of the two codes could make nothing, and its address would be used up.
    function test_reverts_whenItsCodeCannotBeKept() public {
        uint256 clean = vm.snapshotState();
        GatewayFactory next = this.make();
        address[2] memory stores = [next.gatewayCode(), next.vaultCode()];
        for (uint256 i = 0; i < 2; ++i) {
            vm.revertToState(clean);
            clean = vm.snapshotState();
            // An address that has code already takes no other.
            vm.etch(stores[i], hex"00");
            vm.expectRevert(abi.encodeWithSelector(IGatewayFactory.DeploymentFailed.selector, address(0)));
            this.make();
        }
    }

    /// @dev Whatever gas a caller gives: both contracts are there, or none.
    function test_makesBothOrNoneWhateverTheGas(uint256 gasGiven) public {
        gasGiven = bound(gasGiven, 100_000, 9_000_000);
        address operatorId = account("operator");
        (address gateway, address vault) = factory.addressesOf(operatorId);
        (bool success,) = address(factory).call{gas: gasGiven}(abi.encodeCall(IGatewayFactory.deploy, (operatorId)));
        vm.assertEq(gateway.code.length != 0, success, "gateway");
        vm.assertEq(vault.code.length != 0, success, "vault");
    }

    /// @dev The accounts that hold the creation code can be called by anyone, and do nothing.
    function test_reverts_whenAStoreOfCodeIsCalled(bytes calldata data) public {
        (bool success,) = factory.gatewayCode().call(data);
        vm.assertEq(success, false, "the gateway's code");
        (success,) = factory.vaultCode().call(data);
        vm.assertEq(success, false, "the vault's code");
    }

    /// @dev Called from outside: an expected revert of the cheat code that deploys would end the test.
    function make() external returns (GatewayFactory) {
        return GatewayFactory(deploy("GatewayFactory", ""));
    }

    function derive(string memory name, address operatorId) private view returns (address) {
        bytes memory code = bytes.concat(vm.getCode(artifactOf(name)), abi.encode(operatorId));
        bytes memory preimage = bytes.concat(hex"ff", bytes20(address(factory)), bytes32(0), keccak256(code));
        return address(uint160(uint256(keccak256(preimage))));
    }
}
