// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The cheat codes of forge that these tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 privateKey) external pure returns (address);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function label(address account, string calldata name) external;
    function prank(address sender) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function deal(address account, uint256 balance) external;
    function warp(uint256 timestamp) external;
    function chainId(uint256 id) external;
    function assume(bool condition) external pure;
    function expectRevert(bytes calldata data) external;
    function expectRevert() external;
    function expectEmit(address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function load(address account, bytes32 slot) external view returns (bytes32);
    function snapshotState() external returns (uint256 id);
    function revertToState(uint256 id) external returns (bool done);
    function setNonce(address account, uint64 nonce) external;
    function etch(address account, bytes calldata code) external;
    function signAndAttachDelegation(address implementation, uint256 privateKey) external;
    function eip712HashTypedData(string calldata json) external pure returns (bytes32);
    function getCode(string calldata path) external view returns (bytes memory);
    function deployCode(string calldata path, bytes calldata arguments) external returns (address);
    function readFile(string calldata path) external view returns (string memory);
    function readFileBinary(string calldata path) external view returns (bytes memory);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function parseBytes(string calldata text) external pure returns (bytes memory);
    function replace(string calldata text, string calldata from, string calldata to)
        external
        pure
        returns (string memory);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function toString(address value) external pure returns (string memory);
    function toString(bytes32 value) external pure returns (string memory);
    function toString(uint256 value) external pure returns (string memory);
    function snapshotGasLastCall(string calldata group, string calldata name) external returns (uint256);

    function assertEq(uint256 left, uint256 right, string calldata reason) external pure;
    function assertEq(address left, address right, string calldata reason) external pure;
    function assertEq(bytes32 left, bytes32 right, string calldata reason) external pure;
    function assertEq(bool left, bool right, string calldata reason) external pure;
    function assertEq(string calldata left, string calldata right, string calldata reason) external pure;
    function assertLe(uint256 left, uint256 right, string calldata reason) external pure;
    function assertGe(uint256 left, uint256 right, string calldata reason) external pure;
}
