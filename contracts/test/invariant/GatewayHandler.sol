// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {SigningTest} from "../base/SigningTest.sol";
import {HostileRoute} from "../hostile/HostileRoute.sol";

/// @notice Does what payers, merchants, service and troublemakers do, mostly with success, and keeps its own books.
/// An action that must fail is asserted to fail here, so that `fail_on_revert` can stay on.
contract GatewayHandler is SigningTest {
    uint256 private constant MAX_ORDERS = 300;
    uint256 private constant MAX_BATCH = 10;
    uint256 private constant PEOPLE = 3;

    struct Booked {
        uint8 status;
        uint256 refunded;
        uint256 paidAt;
        /// @dev What its deposit address holds.
        uint256 deposited;
    }

    /// @dev Orders that were paid, and after them in time those whose deposits cannot be collected.
    IPaymentGateway.Order[] private _orders;
    Booked[] private _books;

    /// @dev The books, per token.
    mapping(address token => uint256) public open;
    mapping(address token => uint256) public fees;
    mapping(address token => uint256) public donated;
    mapping(address token => mapping(address account => uint256)) public expected;
    address[] private _tokens;
    address[] private _payers;
    address[] private _merchants;
    mapping(address payer => uint256 key) private _keys;

    constructor() {
        SigningTest.setUp();
        _tokens = [address(usdc), address(usdt), address(dai)];
        for (uint256 i = 0; i < PEOPLE; ++i) {
            uint256 key = uint256(keccak256(abi.encode("payer", i))) >> 1;
            _payers.push(vm.addr(key));
            _keys[_payers[i]] = key;
            _merchants.push(address(uint160(0xb000 + i)));
        }
    }

    function pay(uint256 seed, uint8 orderType, uint8 wayOf) external {
        if (_orders.length == MAX_ORDERS) return;
        IPaymentGateway.Order memory order = _newOrder(seed, orderType % ORDER_TYPES);
        Way way = _wayFor(order.token, wayOf);
        bytes memory data = callOf(way, order, sign(order));
        fundFor(way, order);
        Booked memory booked;
        if (gateway.paused() || !gateway.isSigner(signer)) {
            _mustFail(senderOf(way, order), data);
            if (way != Way.Deposit) {
                expected[order.token][order.payer] += order.total;
                return;
            }
            booked.deposited = order.total;
        } else {
            sendAs(senderOf(way, order), data);
            booked.status = order.orderType == DIRECT ? SETTLED : PAID;
            booked.paidAt = block.timestamp;
            _bookPayment(order);
        }
        _orders.push(order);
        _books.push(booked);
    }

    /// @notice A second order of a session that was paid: other payer, token, type and way.
    function payAgain(uint256 which, uint256 seed, uint8 orderType, uint8 wayOf) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        if (_books[which].status == UNKNOWN) return;
        IPaymentGateway.Order memory order = _newOrder(seed, orderType % ORDER_TYPES);
        order.metaData = _orders[which].metaData;
        Way way = _wayFor(order.token, wayOf);
        if (way == Way.Deposit) way = Way.Allowance;
        bytes memory data = callOf(way, order, sign(order));
        fundFor(way, order);
        expected[order.token][order.payer] += order.total;
        _mustFail(senderOf(way, order), data);
    }

    /// @notice Too little, too much or a second time, to an order's deposit address.
    function deposit(uint256 which, uint256 seed, uint64 amount) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        if (seed % 2 == 0 && _orders.length < MAX_ORDERS) {
            which = _orders.length;
            _orders.push(_newOrder(seed, uint8(seed % ORDER_TYPES)));
            _books.push();
        }
        IPaymentGateway.Order memory order = _orders[which];
        give(order.token, gateway.receiverOf(digestOf(order)), amount);
        _books[which].deposited += amount;
    }

    function rescue(uint256 which, bool wait, address caller) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        if (wait && block.timestamp <= order.payBy) vm.warp(uint256(order.payBy) + 1);
        bytes memory data = abi.encodeCall(IPaymentGateway.rescue, (order, order.token));
        bool isCollectable = _books[which].status == UNKNOWN && block.timestamp <= order.payBy;
        if (isCollectable || _books[which].deposited == 0) {
            _mustFail(caller, data);
            return;
        }
        sendAs(caller, data);
        expected[order.token][order.payer] += _books[which].deposited;
        _books[which].deposited = 0;
    }

    /// @notice A batch of any orders, repeated, final and unknown ones included, by the settler or by anyone.
    function settle(uint256 seed, uint256 size, address caller) external {
        if (_orders.length == 0) return;
        if (seed % 3 != 0) caller = settler;
        IPaymentGateway.Order[] memory batch = new IPaymentGateway.Order[](bound(size, 1, MAX_BATCH));
        uint256[] memory indexes = new uint256[](batch.length);
        for (uint256 i = 0; i < batch.length; ++i) {
            indexes[i] = pick(seed, i) % _orders.length;
            batch[i] = _orders[indexes[i]];
            if (pick(seed, i) % 11 == 0) {
                batch[i].total += 1;
                indexes[i] = type(uint256).max;
            }
        }
        vm.prank(caller);
        gateway.settle(batch);
        for (uint256 i = 0; i < batch.length; ++i) {
            if (indexes[i] != type(uint256).max) _bookSettlement(indexes[i], caller);
        }
    }

    function refund(uint256 which) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        bytes memory data = abi.encodeCall(IPaymentGateway.refund, (order));
        if (_books[which].status != PAID) {
            _mustFail(settler, data);
            return;
        }
        _mustFail(order.payer, data);
        sendAs(settler, data);
        _bookReturn(which, REFUNDED);
    }

    function reclaim(uint256 which, bool wait, address caller) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        if (wait && block.timestamp < order.reclaimAt) vm.warp(order.reclaimAt);
        bytes memory data = abi.encodeCall(IPaymentGateway.reclaim, (order));
        if (_books[which].status != PAID || block.timestamp < order.reclaimAt) {
            _mustFail(caller, data);
            return;
        }
        sendAs(caller, data);
        _bookReturn(which, RECLAIMED);
    }

    function refundSettled(uint256 which, uint256 amount) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        Booked storage booked = _books[which];
        uint256 remaining = order.total - booked.refunded;
        if (booked.status != SETTLED || remaining == 0) {
            _mustFail(stranger, abi.encodeCall(IPaymentGateway.refundSettled, (order, 1)));
            return;
        }
        amount = bound(amount, 1, remaining + 10);
        give(order.token, stranger, amount);
        allow(order.token, stranger, amount);
        bytes memory data = abi.encodeCall(IPaymentGateway.refundSettled, (order, amount));
        if (amount > remaining) amount = remaining;
        sendAs(stranger, data);
        booked.refunded += amount;
        expected[order.token][order.payer] += amount;
    }

    function withdrawFees(uint256 which) external {
        address token = _tokens[which % _tokens.length];
        bool isRefused = token == address(usdc) && usdc.isBlacklisted(feeRecipient);
        if (fees[token] <= 1 || isRefused) {
            _mustFail(feeRecipient, abi.encodeCall(IPaymentGateway.withdrawFees, (token)));
            return;
        }
        gateway.withdrawFees(token);
        expected[token][feeRecipient] += fees[token] - 1;
        fees[token] = 1;
    }

    function donate(uint256 which, uint64 amount) external {
        address token = _tokens[which % _tokens.length];
        give(token, address(gateway), amount);
        donated[token] += amount;
    }

    /// @dev Away from normal once in four, back at once: most payments are to succeed.
    function togglePause(uint256 seed) external {
        bool isPaused = gateway.paused();
        if (!isPaused && seed % 4 != 0) return;
        vm.prank(isPaused ? controller : guardian);
        if (isPaused) gateway.unpause();
        else gateway.pause();
    }

    function toggleSigner(uint256 seed) external {
        bool allowed = gateway.isSigner(signer);
        if (allowed && seed % 4 != 0) return;
        vm.prank(allowed ? guardian : controller);
        gateway.setSigner(signer, !allowed);
    }

    function toggleBlock(uint256 which) external {
        address merchant_ = _merchants[which % PEOPLE];
        bool blocked = usdc.isBlacklisted(merchant_);
        vm.prank(minter);
        if (blocked) usdc.unBlacklist(merchant_);
        else usdc.blacklist(merchant_);
    }

    function toggleFeeRecipient(uint256 seed) external {
        bool blocked = usdc.isBlacklisted(feeRecipient);
        if (!blocked && seed % 4 != 0) return;
        vm.prank(minter);
        if (blocked) usdc.unBlacklist(feeRecipient);
        else usdc.blacklist(feeRecipient);
    }

    function toggleRoute(uint256 seed) external {
        bool isHonest = route.mode() == HostileRoute.Mode.Honest;
        if (isHonest && seed % 4 != 0) return;
        route.set(isHonest ? HostileRoute.Mode.Reverts : HostileRoute.Mode.Honest);
    }

    function target() external view returns (IPaymentGateway) {
        return gateway;
    }

    function count() external view returns (uint256) {
        return _orders.length;
    }

    function orderAt(uint256 i) external view returns (IPaymentGateway.Order memory, Booked memory) {
        return (_orders[i], _books[i]);
    }

    function tokens() external view returns (address[] memory) {
        return _tokens;
    }

    /// @notice Everyone whom money may reach, but for deposit addresses.
    function parties() external view returns (address[] memory all) {
        all = new address[](2 * PEOPLE + 4);
        for (uint256 i = 0; i < PEOPLE; ++i) {
            all[i] = _payers[i];
            all[PEOPLE + i] = _merchants[i];
        }
        all[2 * PEOPLE] = feeRecipient;
        all[2 * PEOPLE + 1] = vault;
        all[2 * PEOPLE + 2] = route.NOBODY();
        all[2 * PEOPLE + 3] = address(route);
    }

    function keyOfPayer(address payer_) internal view override returns (uint256) {
        return _keys[payer_];
    }

    /// @dev USDT has neither permits nor authorizations, DAI no authorizations.
    function _wayFor(address token, uint8 wayOf) private view returns (Way way) {
        way = anyWay(wayOf);
        if (token == address(usdt) && (way == Way.Permit || way == Way.Authorization)) return Way.Permit2;
        if (token == address(dai) && way == Way.Authorization) return Way.Deposit;
    }

    function _newOrder(uint256 seed, uint8 orderType) private view returns (IPaymentGateway.Order memory order) {
        order = anyOrderOf(seed, orderType);
        order.metaData = keccak256(abi.encode(seed, _orders.length));
        order.token = _tokens[pick(seed, 40) % _tokens.length];
        order.payer = _payers[pick(seed, 41) % PEOPLE];
        order.to = _merchants[pick(seed, 42) % PEOPLE];
        order.payment = bound(pick(seed, 43), 1, 1e30);
        order.fee = bound(pick(seed, 44), 0, order.payment);
        order.total = pick(seed, 45) % 2 == 0 ? order.payment : order.payment + order.fee;
        if (orderType == DIRECT && _isBlocked(order)) order.token = address(dai);
    }

    function _isBlocked(IPaymentGateway.Order memory order) private view returns (bool) {
        return order.token == address(usdc) && usdc.isBlacklisted(order.to);
    }

    function _bookPayment(IPaymentGateway.Order memory order) private {
        if (order.orderType != DIRECT) {
            open[order.token] += order.total;
            return;
        }
        expected[order.token][order.to] += netOf(order);
        bool isRefused = order.token == address(usdc) && usdc.isBlacklisted(feeRecipient);
        if (isRefused) fees[order.token] += order.fee;
        else expected[order.token][feeRecipient] += order.fee;
    }

    function _bookSettlement(uint256 which, address caller) private {
        IPaymentGateway.Order memory order = _orders[which];
        if (_books[which].status != PAID || block.timestamp >= order.reclaimAt) return;
        bool isOpenToAll = order.orderType == ESCROW && block.timestamp >= _books[which].paidAt + 1 days;
        if (!isOpenToAll && !gateway.isSettler(caller)) return;
        bool isRefused = order.orderType == CCTP && route.mode() != HostileRoute.Mode.Honest;
        if (order.orderType == ESCROW) isRefused = _isBlocked(order);
        // What is all fee needs no transfer, unless it shares one with others that do.
        if (isRefused && (netOf(order) != 0 || gateway.orderStatus(order) == PAID)) return;
        _books[which].status = SETTLED;
        open[order.token] -= order.total;
        fees[order.token] += order.fee;
        address to = [order.to, order.to, vault, route.NOBODY()][order.orderType];
        expected[order.token][to] += netOf(order);
    }

    function _bookReturn(uint256 which, uint8 status) private {
        IPaymentGateway.Order memory order = _orders[which];
        _books[which].status = status;
        open[order.token] -= order.total;
        expected[order.token][order.payer] += order.total;
    }

    function _mustFail(address caller, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = address(gateway).call(data);
        vm.assertEq(success, false, "a call that must fail went through");
    }
}
