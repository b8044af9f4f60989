// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "../base/GatewayTest.sol";

/// @notice Does what payers, merchants, service and troublemakers do, mostly with success, and keeps its own books.
/// An action that must fail is asserted to fail here, so that `fail_on_revert` can stay on.
contract GatewayHandler is GatewayTest {
    uint256 private constant MAX_ORDERS = 200;
    uint256 private constant MAX_BATCH = 10;

    IPaymentGateway.Order[] private _orders;
    uint8[] private _statuses;
    mapping(bytes32 metaData => bool) private _isUsed;

    /// @dev The books, per token.
    mapping(address token => uint256) public open;
    mapping(address token => uint256) public fees;
    mapping(address token => uint256) public donated;
    mapping(address token => mapping(address account => uint256)) public expected;
    address[] private _tokens;
    address[] private _payers;
    address[] private _merchants;

    constructor() {
        GatewayTest.setUp();
        _tokens = [address(usdc), address(usdt), address(dai)];
        for (uint256 i = 0; i < 3; ++i) {
            _payers.push(address(uint160(0xa000 + i)));
            _merchants.push(address(uint160(0xb000 + i)));
        }
    }

    function pay(uint256 seed, uint8 orderType) external {
        if (_orders.length == MAX_ORDERS) return;
        IPaymentGateway.Order memory order = _newOrder(seed, orderType % 3);
        bytes memory signature = sign(order);
        fund(order);
        if (gateway.paused() || !gateway.isOrderSigner(signer)) {
            _mustFail(order.payer, abi.encodeCall(IPaymentGateway.pay, (order, signature)));
            expected[order.token][order.payer] += order.total;
            return;
        }
        payAs(order.payer, order, signature);
        _isUsed[order.metaData] = true;
        _orders.push(order);
        if (order.orderType == DIRECT) {
            _statuses.push(SETTLED);
            expected[order.token][order.to] += netOf(order);
            expected[order.token][feeRecipient] += order.fee;
        } else {
            _statuses.push(PAID);
            open[order.token] += order.total;
        }
    }

    /// @notice A second order of a session that was paid: other payer, token and method.
    function payAgain(uint256 which, uint256 seed, uint8 orderType) external {
        if (_orders.length == 0) return;
        IPaymentGateway.Order memory order = _newOrder(seed, orderType % 3);
        order.metaData = _orders[which % _orders.length].metaData;
        fund(order);
        expected[order.token][order.payer] += order.total;
        _mustFail(order.payer, abi.encodeCall(IPaymentGateway.pay, (order, sign(order))));
    }

    /// @notice A batch of any orders, repeated, final and unknown ones included.
    function settle(uint256 seed, uint256 size, address caller) external {
        if (_orders.length == 0 || caller == address(0)) return;
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
            if (indexes[i] != type(uint256).max) _bookSettlement(indexes[i]);
        }
    }

    function refund(uint256 which) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        if (_statuses[which] != PAID) {
            _mustFail(settler, abi.encodeCall(IPaymentGateway.refund, (order)));
            return;
        }
        _mustFail(order.payer, abi.encodeCall(IPaymentGateway.refund, (order)));
        vm.prank(settler);
        gateway.refund(order);
        _bookReturn(which, REFUNDED);
    }

    function reclaim(uint256 which, bool wait) external {
        if (_orders.length == 0) return;
        which %= _orders.length;
        IPaymentGateway.Order memory order = _orders[which];
        if (wait && block.timestamp < order.reclaimAt) vm.warp(order.reclaimAt);
        bytes memory data = abi.encodeCall(IPaymentGateway.reclaim, (order));
        _mustFail(order.to, data);
        if (_statuses[which] != PAID || block.timestamp < order.reclaimAt) {
            _mustFail(order.payer, data);
            return;
        }
        vm.prank(order.payer);
        gateway.reclaim(order);
        _bookReturn(which, RECLAIMED);
    }

    function withdrawFees(uint256 which) external {
        address token = _tokens[which % _tokens.length];
        if (fees[token] <= 1) {
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
        vm.prank(isPaused ? admin : guardian);
        if (isPaused) gateway.unpause();
        else gateway.pause();
    }

    function toggleSigner(uint256 seed) external {
        bool allowed = gateway.isOrderSigner(signer);
        if (allowed && seed % 4 != 0) return;
        vm.prank(allowed ? guardian : admin);
        gateway.setOrderSigner(signer, !allowed);
    }

    function toggleBlock(uint256 which) external {
        address merchant_ = _merchants[which % _merchants.length];
        bool blocked = usdc.isBlacklisted(merchant_);
        vm.prank(minter);
        if (blocked) usdc.unBlacklist(merchant_);
        else usdc.blacklist(merchant_);
    }

    function target() external view returns (IPaymentGateway) {
        return gateway;
    }

    function vaultAddress() external view returns (address) {
        return vault;
    }

    function count() external view returns (uint256) {
        return _orders.length;
    }

    function orderAt(uint256 i) external view returns (IPaymentGateway.Order memory, uint8) {
        return (_orders[i], _statuses[i]);
    }

    function tokens() external view returns (address[] memory) {
        return _tokens;
    }

    /// @notice Everyone whom money may reach.
    function parties() external view returns (address[] memory all) {
        all = new address[](_payers.length + _merchants.length + 2);
        for (uint256 i = 0; i < 3; ++i) {
            all[i] = _payers[i];
            all[3 + i] = _merchants[i];
        }
        all[6] = feeRecipient;
        all[7] = vault;
    }

    function _newOrder(uint256 seed, uint8 orderType) private view returns (IPaymentGateway.Order memory order) {
        order = anyOrderOf(seed, orderType);
        order.metaData = keccak256(abi.encode(seed, _orders.length));
        order.token = _tokens[pick(seed, 40) % 3];
        order.payer = _payers[pick(seed, 41) % 3];
        order.to = _merchants[pick(seed, 42) % 3];
        order.payment = bound(pick(seed, 43), 1, 1e30);
        order.fee = bound(pick(seed, 44), 0, order.payment);
        order.total = pick(seed, 45) % 2 == 0 ? order.payment : order.payment + order.fee;
        if (orderType == DIRECT && usdc.isBlacklisted(order.to)) order.token = address(dai);
    }

    function _bookSettlement(uint256 which) private {
        IPaymentGateway.Order memory order = _orders[which];
        if (_statuses[which] != PAID) return;
        bool toMerchant = order.orderType == ESCROW;
        bool blocked = toMerchant && order.token == address(usdc) && usdc.isBlacklisted(order.to);
        // What is all fee needs no transfer, unless it shares one with others that do.
        if (blocked && (netOf(order) != 0 || gateway.orderStatus(order) == PAID)) return;
        _statuses[which] = SETTLED;
        open[order.token] -= order.total;
        fees[order.token] += order.fee;
        expected[order.token][toMerchant ? order.to : vault] += netOf(order);
    }

    function _bookReturn(uint256 which, uint8 status) private {
        IPaymentGateway.Order memory order = _orders[which];
        _statuses[which] = status;
        open[order.token] -= order.total;
        expected[order.token][order.payer] += order.total;
    }

    function _mustFail(address caller, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = address(gateway).call(data);
        vm.assertEq(success, false, "a call that must fail went through");
    }
}
