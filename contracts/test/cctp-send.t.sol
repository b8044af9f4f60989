// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalCctpMessage} from "../local/LocalCctpMessage.sol";
import {CctpRoute} from "../src/CctpRoute.sol";
import {ICctpRouteInfo} from "../src/interfaces/ICctpRouteInfo.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {CctpTest} from "./base/CctpTest.sol";
import {HostileMessenger, OddApproval} from "./hostile/HostileMessenger.sol";

contract CctpSendTest is CctpTest {
    function test_belongsToTheGatewayThatItWasMadeFor(address gatewayOf) public {
        vm.assume(gatewayOf != address(0));
        (uint64[] memory chains, uint32[] memory domains) = table();
        CctpRoute made = CctpRoute(deploy("CctpRoute", abi.encode(address(messenger), chains, domains, gatewayOf)));
        vm.assertEq(made.gateway(), gatewayOf, "gateway");
        vm.assertEq(made.tokenMessenger(), address(messenger), "messenger");
        vm.assertEq(made.domainOf(THERE), DOMAIN_THERE, "domain");
        vm.chainId(THERE);
        vm.assertEq(made.domainOf(HERE), DOMAIN_HERE, "domain zero");
    }

    function test_reverts_whenConstructedWrongly() public {
        (uint64[] memory chains, uint32[] memory domains) = table();
        expectError(ICctpRouteInfo.ZeroValue.selector);
        this.makeRoute(address(0), chains, domains, gateway);
        expectError(ICctpRouteInfo.ZeroValue.selector);
        this.makeRoute(address(messenger), chains, domains, address(0));
        expectError(ICctpRouteInfo.InvalidDomains.selector);
        this.makeRoute(address(messenger), chains, new uint32[](2), gateway);
        expectError(ICctpRouteInfo.InvalidDomains.selector);
        this.makeRoute(address(messenger), chains, new uint32[](4), gateway);
        chains[2] = chains[0];
        expectError(ICctpRouteInfo.InvalidDomains.selector);
        this.makeRoute(address(messenger), chains, domains, gateway);
        chains[2] = 0;
        expectError(ICctpRouteInfo.InvalidDomains.selector);
        this.makeRoute(address(messenger), chains, domains, gateway);
    }

    /// @dev Called from outside: an expected revert of the cheat code that deploys would end the test.
    function makeRoute(address messengerOf, uint64[] calldata chains, uint32[] calldata domains, address gatewayOf)
        external
    {
        deploy("CctpRoute", abi.encode(messengerOf, chains, domains, gatewayOf));
    }

    function test_burnsForTheRecipientAlone(bytes32 orderId, uint256 amount, address to, bool far) public {
        vm.assume(orderId != 0 && to != address(0));
        amount = bound(amount, 1, LIMIT);
        uint64 target = far ? FAR : THERE;
        uint32 domain = far ? DOMAIN_FAR : DOMAIN_THERE;
        vm.recordLogs();
        sendAsGateway(orderId, amount, target, to);
        (LocalCctpMessage.Header memory header, LocalCctpMessage.Burn memory burn, bytes memory hookData) =
            reader.read(sentMessage());

        vm.assertEq(usdc.totalSupply(), FUNDS - amount, "supply");
        vm.assertEq(usdc.balanceOf(gateway), FUNDS - amount, "gateway");
        vm.assertEq(usdc.balanceOf(address(route)), 0, "route");
        vm.assertEq(usdc.allowance(address(route), address(messenger)), 0, "allowance");
        vm.assertEq(header.destinationDomain, domain, "domain");
        vm.assertEq(header.destinationCaller, bytes32(0), "caller");
        vm.assertEq(header.minFinalityThreshold, 2000, "finality");
        vm.assertEq(burn.burnToken, bytes32(uint256(uint160(address(usdc)))), "token");
        vm.assertEq(burn.mintRecipient, bytes32(uint256(uint160(to))), "recipient");
        vm.assertEq(burn.messageSender, bytes32(uint256(uint160(address(route)))), "sender");
        vm.assertEq(burn.amount, amount, "amount");
        vm.assertEq(burn.maxFee, 0, "fee");
        vm.assertEq(keccak256(hookData), keccak256(abi.encode(orderId)), "hook data");
    }

    function test_emitsBurnt(bytes32 orderId, uint256 amount) public {
        vm.assume(orderId != 0);
        amount = bound(amount, 1, LIMIT);
        vm.prank(gateway);
        usdc.approve(address(route), amount);
        vm.expectEmit(address(route));
        emit ICctpRouteInfo.Burnt(orderId, merchant, address(usdc), amount, THERE, DOMAIN_THERE);
        vm.prank(gateway);
        route.send(orderId, address(usdc), amount, THERE, merchant);
    }

    function test_reverts_whenTheCallerIsNotTheGateway(address caller, uint8 which) public {
        address[4] memory callers = [caller, minter, circle, address(messenger)];
        caller = callers[which % 4];
        vm.assume(caller != gateway && caller != address(0));
        vm.prank(minter);
        usdc.mint(caller, 5);
        vm.prank(caller);
        usdc.approve(address(route), 5);
        vm.expectRevert(abi.encodeWithSelector(ICctpRouteInfo.NotGateway.selector, caller));
        vm.prank(caller);
        route.send("order", address(usdc), 5, THERE, merchant);
    }

    function test_reverts_whenSomethingIsZero() public {
        bytes memory reason = abi.encodeWithSelector(ICctpRouteInfo.ZeroValue.selector);
        expectRefused(0, 5, THERE, merchant, reason);
        expectRefused("order", 5, THERE, address(0), reason);
        vm.expectRevert(reason);
        vm.prank(gateway);
        route.send("order", address(0), 5, THERE, merchant);
        expectRefused("order", 0, THERE, merchant, revertWith("Amount must be nonzero"));
    }

    function test_reverts_whenTheChainIsNotInTheTable(uint64 chain) public {
        vm.assume(chain != THERE && chain != FAR);
        expectRefused("order", 5, chain, merchant, abi.encodeWithSelector(ICctpRouteInfo.UnknownChain.selector, chain));
        vm.expectRevert(abi.encodeWithSelector(ICctpRouteInfo.UnknownChain.selector, HERE));
        route.domainOf(HERE);
    }

    function test_reverts_whenTheTokenRefuses(uint256 amount) public {
        amount = bound(amount, 2, LIMIT);
        bytes memory reason = abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, address(usdc));
        vm.prank(gateway);
        usdc.approve(address(route), amount - 1);
        vm.expectRevert(reason);
        vm.prank(gateway);
        route.send("order", address(usdc), amount, THERE, merchant);

        vm.prank(minter);
        usdc.blacklist(address(route));
        expectRefused("order", amount, THERE, merchant, reason);
        vm.startPrank(minter);
        usdc.unBlacklist(address(route));
        vm.stopPrank();
        vm.prank(gateway);
        usdc.approve(address(route), amount);
        vm.prank(minter);
        usdc.pause();
        vm.expectRevert(reason);
        vm.prank(gateway);
        route.send("order", address(usdc), amount, THERE, merchant);
    }

    function test_reverts_whenCircleRefuses(uint256 over) public {
        expectRefused(
            "order", bound(over, LIMIT + 1, FUNDS), THERE, merchant, revertWith("Burn amount exceeds per tx limit")
        );
        vm.prank(circle);
        messenger.setDenylisted(address(route), true);
        expectRefused("order", 5, THERE, merchant, revertWith("Denylistable: account is on denylist"));
        vm.startPrank(circle);
        messenger.setDenylisted(address(route), false);
        messenger.setMinFee(1);
        vm.stopPrank();
        expectRefused("order", 5, THERE, merchant, revertWith("Insufficient max fee"));
        vm.startPrank(circle);
        messenger.setMinFee(0);
        transmitter.setPaused(true);
        vm.stopPrank();
        expectRefused("order", 5, THERE, merchant, revertWith("Pausable: paused"));
        vm.startPrank(circle);
        transmitter.setPaused(false);
        messenger.setMaxBurnAmountPerMessage(address(usdc), 0);
        vm.stopPrank();
        expectRefused("order", 5, THERE, merchant, revertWith("Burn token not supported"));
    }

    function test_reverts_whenCircleTakesAnotherAmount(uint256 amount, uint256 taken) public {
        amount = bound(amount, 1, LIMIT);
        taken = bound(taken, 0, amount - 1);
        HostileMessenger hostile = useHostileMessenger();
        hostile.setTaken(taken);
        expectRefused(
            "order", amount, THERE, merchant, abi.encodeWithSelector(ICctpRouteInfo.WrongBurn.selector, amount, taken)
        );
    }

    function test_reverts_whenTheBalanceGrows(uint256 amount) public {
        amount = bound(amount, 1, LIMIT);
        HostileMessenger hostile = useHostileMessenger();
        vm.prank(minter);
        usdc.mint(address(hostile), 7);
        hostile.setGift(7);
        expectRefused(
            "order", amount, THERE, merchant, abi.encodeWithSelector(ICctpRouteInfo.WrongBurn.selector, amount, 0)
        );
    }

    function test_takesNothingThatWasThereBefore(uint256 amount, uint256 before) public {
        amount = bound(amount, 1, LIMIT);
        before = bound(before, 1, LIMIT);
        vm.prank(minter);
        usdc.mint(address(route), before);
        sendAsGateway("order", amount, THERE, merchant);
        vm.assertEq(usdc.balanceOf(address(route)), before, "route");
    }

    function test_reverts_whenTheApprovalFails(uint256 amount) public {
        amount = bound(amount, 1, LIMIT);
        OddApproval odd = new OddApproval();
        odd.give(gateway, amount);
        vm.expectRevert(abi.encodeWithSelector(ICctpRouteInfo.ApprovalFailed.selector, address(odd)));
        vm.prank(gateway);
        route.send("order", address(odd), amount, THERE, merchant);
    }

    function test_reverts_whenCalledBackIn(uint256 amount) public {
        amount = bound(amount, 1, LIMIT);
        HostileMessenger hostile = useHostileMessenger();
        hostile.setTaken(amount);
        // The inner call comes from the messenger, which is not the gateway.
        hostile.setInner(address(route), abi.encodeCall(route.send, ("inner", address(usdc), 1, THERE, stranger)));
        expectRefused(
            "order",
            amount,
            THERE,
            merchant,
            abi.encodeWithSelector(ICctpRouteInfo.NotGateway.selector, address(hostile))
        );
        // Even a gateway that were tricked into calling would be refused.
        hostile.setInner(gateway, "");
        vm.etch(gateway, address(new Relay(address(route), address(usdc), merchant)).code);
        expectRefused("order", amount, THERE, merchant, abi.encodeWithSelector(ICctpRouteInfo.Reentered.selector));
    }

    function test_sendsAgainInOneTransaction(uint256 amount) public {
        amount = bound(amount, 1, LIMIT);
        sendAsGateway("first", amount, THERE, merchant);
        sendAsGateway("second", amount, FAR, merchant);
        vm.assertEq(usdc.totalSupply(), FUNDS - 2 * amount, "supply");
    }

    function useHostileMessenger() private returns (HostileMessenger hostile) {
        (uint64[] memory chains, uint32[] memory domains) = table();
        hostile = new HostileMessenger();
        route = CctpRoute(deploy("CctpRoute", abi.encode(address(hostile), chains, domains, gateway)));
    }
}

/// @dev Calls the route whatever it is called with.
contract Relay {
    address private immutable ROUTE;
    address private immutable TOKEN;
    address private immutable TO;

    constructor(address route, address token, address to) {
        (ROUTE, TOKEN, TO) = (route, token, to);
    }

    fallback() external {
        CctpRoute(ROUTE).send("inner", TOKEN, 1, 8453, TO);
    }
}
