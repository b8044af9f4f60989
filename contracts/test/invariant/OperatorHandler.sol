// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalMessageTransmitter} from "../../local/LocalMessageTransmitter.sol";
import {LocalTokenMessenger} from "../../local/LocalTokenMessenger.sol";
import {CctpRoute} from "../../src/CctpRoute.sol";
import {PayoutVault} from "../../src/PayoutVault.sol";
import {IAccess} from "../../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {IPayoutVault} from "../../src/interfaces/IPayoutVault.sol";
import {GatewayTest} from "../base/GatewayTest.sol";

/// @notice Gateway, vault and route of one operator together, while signers, settlers, controllers and caps change, the token
/// blocks the payer or the fee recipient, and calls come on another chain. What must not work is asserted to fail here.
contract OperatorHandler is GatewayTest {
    uint256 private constant MAX_ORDERS = 200;
    uint112 private constant CAP = 1_000e6;

    struct Booked {
        uint8 status;
        bool isPaidOut;
    }

    IPaymentGateway.Order[] private _orders;
    Booked[] private _books;
    PayoutVault private _vault;
    address private _cctpRoute;
    /// @dev How often each role was handed on. The present holder's key has the number in its name.
    uint256 private _signers;
    uint256 private _settlers;
    uint256 private _controllers;

    uint256 public open;
    uint256 public fees;
    uint256 public inVault;
    uint256 public burnt;
    uint256 public given;
    uint256 public atMerchant;

    constructor() {
        GatewayTest.setUp();
        _vault = newVault(controller, signer, settler, guardian);
        (uint64[] memory chains, uint32[] memory domains) = (new uint64[](2), new uint32[](2));
        (chains[0], chains[1], domains[1]) = (uint64(block.chainid), OTHER_CHAIN, 6);
        address transmitter = address(new LocalMessageTransmitter(controller, account("attester"), chains, domains));
        LocalTokenMessenger messenger = new LocalTokenMessenger(controller, transmitter);
        _cctpRoute = deploy("CctpRoute", abi.encode(address(messenger), chains, domains, address(gateway)));
        vm.prank(minter);
        usdc.configureMinter(address(messenger), 0);
        vm.startPrank(controller);
        messenger.setMaxBurnAmountPerMessage(address(usdc), type(uint256).max);
        gateway.setSettler(address(this), false);
        _vault.setCaps(address(usdc), CAP, CAP, 2 * CAP);
        vm.stopPrank();
    }

    function targets() external view returns (address, address, address, address) {
        return (address(gateway), address(_vault), _cctpRoute, address(usdc));
    }

    /// @notice A payment with the present signer's consent, and one with a former's, which must fail.
    function pay(uint256 seed, uint8 orderType) external {
        if (_orders.length == MAX_ORDERS) return;
        IPaymentGateway.Order memory order = _newOrder(seed, orderType % ORDER_TYPES);
        bool isBlocked = usdc.isBlacklisted(payer);
        if (!isBlocked) {
            fund(order);
            given += order.total;
        }
        bytes32 digest = digestOf(order);
        if (_signers != 0) _mustFail(order.payer, address(gateway), _payment(order, _signerKey(_signers - 1), digest));
        bytes memory data = _payment(order, _signerKey(_signers), digest);
        if (gateway.paused() || isBlocked) {
            _mustFail(order.payer, address(gateway), data);
            return;
        }
        _send(order.payer, address(gateway), data);
        bool isDirect = order.orderType == DIRECT;
        _orders.push(order);
        _books.push(Booked(isDirect ? SETTLED : PAID, false));
        if (!isDirect) {
            open += order.total;
            return;
        }
        atMerchant += netOf(order);
        if (usdc.isBlacklisted(feeRecipient)) fees += order.fee;
    }

    /// @notice An order is nothing on another chain, where the contracts have the same addresses and keys.
    function callElsewhere(uint256 which) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        uint256 here = block.chainid;
        vm.chainId(OTHER_CHAIN);
        _mustFail(_settler(_settlers), address(gateway), abi.encodeCall(IPaymentGateway.refund, (order)));
        _mustFail(order.payer, address(gateway), abi.encodeCall(IPaymentGateway.reclaim, (order)));
        settleAs(_settler(_settlers), order);
        vm.assertEq(statusOf(order), UNKNOWN, "known elsewhere");
        vm.chainId(here);
        vm.assertEq(statusOf(order), _books[which].status, "closed from elsewhere");
    }

    /// @notice What was sent here to the deposit address of another chain's order goes to that order's payer alone.
    function rescueFromElsewhere(uint256 seed, uint64 amount, address caller) external {
        if (amount == 0) return;
        IPaymentGateway.Order memory order = _newOrder(seed, ESCROW);
        order.targetChain = OTHER_CHAIN;
        address receiver = gateway.receiverOf(digestFor(order, address(gateway), OTHER_CHAIN));
        uint256 held = usdc.balanceOf(receiver) + amount;
        give(address(usdc), receiver, amount);
        given += amount;
        bytes memory data = abi.encodeCall(IPaymentGateway.rescueFromChain, (order, address(usdc), OTHER_CHAIN));
        if (usdc.isBlacklisted(payer)) {
            _mustFail(caller, address(gateway), data);
            return;
        }
        uint256 atPayer = usdc.balanceOf(payer);
        _send(caller, address(gateway), data);
        vm.assertEq(usdc.balanceOf(payer), atPayer + held, "payer");
    }

    /// @notice By a former settler, who can do what anyone can, and then by the present one.
    function settle(uint256 which) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        bool isOpen = _books[which].status == PAID && block.timestamp < order.reclaimAt;
        (, uint40 paidAt,) = gateway.statusOf(order.metaData);
        if (_settlers != 0 && (order.orderType != ESCROW || block.timestamp < paidAt + 1 days)) {
            settleAs(_settler(_settlers - 1), order);
            vm.assertEq(statusOf(order), _books[which].status, "a former settler settled");
        }
        settleAs(_settler(_settlers), order);
        if (isOpen) {
            _books[which].status = SETTLED;
            (open, fees) = (open - order.total, fees + order.fee);
            if (order.orderType == ESCROW) atMerchant += netOf(order);
            else if (order.orderType == VAULT_PAYOUT) inVault += netOf(order);
            else burnt += netOf(order);
        }
        vm.assertEq(statusOf(order), _books[which].status, "status");
    }

    function refund(uint256 which) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        bytes memory data = abi.encodeCall(IPaymentGateway.refund, (_orders[which]));
        if (_settlers != 0) _mustFail(_settler(_settlers - 1), address(gateway), data);
        _return(which, _settler(_settlers), data, REFUNDED);
    }

    function reclaim(uint256 which, address caller) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        bytes memory data = abi.encodeCall(IPaymentGateway.reclaim, (_orders[which]));
        if (block.timestamp < _orders[which].reclaimAt) _mustFail(caller, address(gateway), data);
        else _return(which, caller, data, RECLAIMED);
    }

    /// @notice What a settled order's merchant is owed from the vault; once, within the caps, by the present keys.
    function payout(uint256 which) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        if (order.orderType != VAULT_PAYOUT || _books[which].status != SETTLED || netOf(order) == 0) return;
        IPayoutVault.Payout memory p = IPayoutVault.Payout({
            orderId: digestOf(order),
            channelId: order.channelId,
            metaData: order.metaData,
            sourceChain: uint64(block.chainid),
            token: address(usdc),
            to: merchant,
            amount: netOf(order),
            deadline: uint64(block.timestamp)
        });
        bytes32 digest = _vault.payoutDigest(p);
        bytes memory data = _payoutCall(p, _signerKey(_signers), digest);
        if (_signers != 0) {
            _mustFail(_settler(_settlers), address(_vault), _payoutCall(p, _signerKey(_signers - 1), digest));
        }
        if (_settlers != 0) _mustFail(_settler(_settlers - 1), address(_vault), data);
        bool isPayable = !_books[which].isPaidOut && !_vault.paused() && p.amount <= _vault.capsOf(p.token).perOrder
            && p.amount <= _vault.available(p.token);
        if (!isPayable) {
            _mustFail(_settler(_settlers), address(_vault), data);
            return;
        }
        _send(_settler(_settlers), address(_vault), data);
        _books[which].isPaidOut = true;
        (inVault, atMerchant) = (inVault - p.amount, atMerchant + p.amount);
    }

    function handOnSigner() external {
        address next = vm.addr(_signerKey(_signers + 1));
        vm.startPrank(_controller(_controllers));
        gateway.setSigner(next, true);
        _vault.setSigner(next, true);
        vm.stopPrank();
        vm.startPrank(guardian);
        gateway.setSigner(vm.addr(_signerKey(_signers)), false);
        _vault.setSigner(vm.addr(_signerKey(_signers)), false);
        vm.stopPrank();
        ++_signers;
    }

    function handOnSettler() external {
        vm.startPrank(_controller(_controllers));
        gateway.setSettler(_settler(_settlers + 1), true);
        _vault.setSettler(_settler(_settlers + 1), true);
        gateway.setSettler(_settler(_settlers), false);
        _vault.setSettler(_settler(_settlers), false);
        vm.stopPrank();
        ++_settlers;
    }

    function handOnController() external {
        (address present, address next) = (_controller(_controllers), _controller(_controllers + 1));
        address[2] memory contracts = [address(gateway), address(_vault)];
        for (uint256 i = 0; i < contracts.length; ++i) {
            _send(present, contracts[i], abi.encodeCall(IAccess.transferController, (next)));
            _send(next, contracts[i], abi.encodeCall(IAccess.acceptController, ()));
            _mustFail(present, contracts[i], abi.encodeCall(IAccess.setSettler, (present, true)));
            _mustFail(present, contracts[i], abi.encodeCall(IAccess.transferController, (present)));
        }
        ++_controllers;
    }

    function setCaps(uint112 perOrder, uint112 hourly) external {
        vm.prank(_controller(_controllers));
        _vault.setCaps(address(usdc), perOrder % (2 * CAP), hourly % (4 * CAP), 4 * CAP);
    }

    function withdraw(uint256 amount) external {
        amount = bound(amount, 0, inVault / 4);
        if (amount == 0) return;
        vm.prank(_controller(_controllers));
        _vault.withdraw(address(usdc), account("operator"), amount);
        inVault -= amount;
    }

    function togglePause() external {
        IAccess[2] memory contracts = [IAccess(address(gateway)), IAccess(address(_vault))];
        for (uint256 i = 0; i < contracts.length; ++i) {
            bool isPaused = contracts[i].paused();
            vm.prank(isPaused ? _controller(_controllers) : guardian);
            if (isPaused) contracts[i].unpause();
            else contracts[i].pause();
        }
    }

    /// @dev Blocked once in four, unblocked at once: most calls are to succeed.
    function toggleBlock(uint256 seed) external {
        address party = seed / 4 % 2 == 0 ? payer : feeRecipient;
        bool isBlocked = usdc.isBlacklisted(party);
        if (!isBlocked && seed % 4 != 0) return;
        vm.prank(minter);
        if (isBlocked) usdc.unBlacklist(party);
        else usdc.blacklist(party);
    }

    function withdrawFees() external {
        bytes memory data = abi.encodeCall(IPaymentGateway.withdrawFees, (address(usdc)));
        if (fees <= 1 || usdc.isBlacklisted(feeRecipient)) {
            _mustFail(stranger, address(gateway), data);
            return;
        }
        _send(stranger, address(gateway), data);
        fees = 1;
    }

    function wait_(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 1, 2 days));
    }

    function isFormerKeyLeft() external view returns (bool) {
        for (uint256 i = 0; i < _signers; ++i) {
            address former = vm.addr(_signerKey(i));
            if (gateway.isSigner(former) || _vault.isSigner(former)) return true;
        }
        return false;
    }

    function merchantBalance() external view returns (uint256) {
        return usdc.balanceOf(merchant);
    }

    function _newOrder(uint256 seed, uint8 orderType) private view returns (IPaymentGateway.Order memory order) {
        order = plainOrder();
        order.metaData = keccak256(abi.encode(seed, _orders.length));
        order.payer = payer;
        order.payment = order.total = bound(pick(seed, 0), 1, CAP);
        order.fee = bound(pick(seed, 1), 0, order.total);
        order.orderType = orderType;
        if (orderType >= VAULT_PAYOUT) order.targetChain = OTHER_CHAIN;
        if (orderType == VAULT_PAYOUT) order.via = address(_vault);
        if (orderType == CCTP) order.via = _cctpRoute;
    }

    function _return(uint256 which, address caller, bytes memory data, uint8 status) private {
        if (_books[which].status != PAID || usdc.isBlacklisted(payer)) {
            _mustFail(caller, address(gateway), data);
            return;
        }
        uint256 held = usdc.balanceOf(payer);
        _send(caller, address(gateway), data);
        vm.assertEq(usdc.balanceOf(payer), held + _orders[which].total, "the payer's money");
        _books[which].status = status;
        open -= _orders[which].total;
    }

    function _payment(IPaymentGateway.Order memory order, uint256 key, bytes32 digest)
        private
        pure
        returns (bytes memory)
    {
        return abi.encodeCall(IPaymentGateway.pay, (order, signDigest(key, digest)));
    }

    function _payoutCall(IPayoutVault.Payout memory p, uint256 key, bytes32 digest)
        private
        pure
        returns (bytes memory)
    {
        return abi.encodeCall(IPayoutVault.payout, (p, signDigest(key, digest)));
    }

    function _signerKey(uint256 number) private pure returns (uint256) {
        return number == 0 ? keyOf("order signer") : keyOf(string.concat("signer ", vm.toString(number)));
    }

    function _settler(uint256 number) private view returns (address) {
        return number == 0 ? settler : vm.addr(keyOf(string.concat("settler ", vm.toString(number))));
    }

    function _controller(uint256 number) private view returns (address) {
        return number == 0 ? controller : vm.addr(keyOf(string.concat("controller ", vm.toString(number))));
    }

    function _send(address caller, address target, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = target.call(data);
        vm.assertEq(success, true, "an allowed call failed");
    }

    function _mustFail(address caller, address target, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = target.call(data);
        vm.assertEq(success, false, "a forbidden call succeeded");
    }
}
