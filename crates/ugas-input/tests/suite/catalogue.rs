//! Names of device inputs, custom devices and bridges.

use crate::kit::Rig;
use ugas_core::SimTime;
use ugas_doc::{Device, DeviceInput};
use ugas_input::{Bridge, DeviceEvent, DeviceId, InputCode, InputProblem, Shape};

fn named(device: Device, input: &str, custom: Option<&str>) -> DeviceInput {
    DeviceInput { device, input: input.into(), custom_device_name: custom.map(str::to_owned) }
}

// covers: UGAS-11.4-01
#[test]
fn each_family_of_devices_has_inputs_and_custom_ones_need_a_name() {
    for (device, input) in [
        (Device::Keyboard, "Key.Escape"),
        (Device::Mouse, "Mouse.RightButton"),
        (Device::Gamepad, "Gamepad.DPad.Up"),
        (Device::Touch, "Touch.Tap"),
        (Device::Gyro, "Gyro.Roll"),
    ] {
        assert_eq!(InputCode::of(&named(device, input, None)).unwrap().device(), device);
    }
    let wheel = InputCode::of(&named(Device::Custom, "Wheel.Pedal", Some("Wheel"))).unwrap();
    assert_eq!(wheel, InputCode::custom("Wheel", "Wheel.Pedal"));
    let error = InputCode::of(&named(Device::Custom, "Wheel.Pedal", None)).unwrap_err();
    assert_eq!(error.problem, InputProblem::NoDeviceName);
    assert!(error.to_string().contains("CustomDeviceName is missing"), "{error}");
}

// covers: UGAS-11.4-02
#[test]
fn the_names_of_the_specification_exist_and_a_name_has_a_category() {
    let names = "Key.Space Key.W Key.1 Key.LeftShift Key.Escape Mouse.LeftButton Mouse.RightButton Mouse.Axis.X \
        Mouse.Axis.Y Mouse.Scroll Gamepad.FaceBottom Gamepad.FaceRight Gamepad.LeftStick.X Gamepad.RightTrigger \
        Gamepad.DPad.Up Touch.Tap Touch.Region.Left Touch.Swipe Gyro.Pitch Gyro.Yaw Gyro.Roll Key.ArrowUp";
    for name in names.split_whitespace() {
        let code = InputCode::named(name).unwrap();
        let category =
            if code.device() == Device::Keyboard { "Key".to_owned() } else { format!("{:?}", code.device()) };
        assert!(name.starts_with(&format!("{category}.")), "{name}");
    }
    let error = InputCode::of(&named(Device::Keyboard, "Space", None)).unwrap_err();
    assert!(error.to_string().starts_with("unknown device input 'Space'"), "{error}");
    let error = InputCode::of(&named(Device::Custom, "Pedal", Some("Wheel"))).unwrap_err();
    assert_eq!(error.problem, InputProblem::NotAPath);
}

// covers: UGAS-11.4-03
#[test]
fn a_bridge_translates_the_codes_of_a_host() {
    let bridge = Bridge::from_table([("57", "Key.Space"), ("17", "Key.W")]).unwrap();
    let mut rig = Rig::play("Jump", &["Jump: Key.Space"]);
    let (input, value) = bridge.translate("57", [1.0, 0.0, 0.0]).unwrap();
    rig.seat.take(DeviceEvent { at: SimTime::millis(3), device: DeviceId(0), input, value });
    assert_eq!(rig.step(16), ["3 Press Jump"]);
    assert_eq!(bridge.host_name(input), Some("57"));
    assert!(bridge.translate("58", [1.0, 0.0, 0.0]).is_none());
}

#[test]
fn a_table_with_errors_is_no_bridge_and_all_errors_are_named() {
    let error = Bridge::from_table([("1", "Key.Spac"), ("2", "Key.W"), ("2", "Key.A")]).unwrap_err();
    assert_eq!((error.unknown.len(), error.repeated.as_slice()), (1, &["2".to_owned()][..]));
    assert!(error.to_string().contains("did you mean 'Key.Space'?"));
}

#[test]
fn bridges_agree_on_directions_and_ranges() {
    let is = |bridge: &Bridge, name: &str, value: f64| {
        let (code, value) = bridge.translate(name, [value, 0.0, 0.0]).unwrap();
        (code.name().unwrap(), value[0])
    };
    assert_eq!(is(&Bridge::web(), "Axis3", 1.0), ("Gamepad.RightStick.Y", -1.0));
    assert_eq!(is(&Bridge::gilrs(), "RightStickY", 1.0), ("Gamepad.RightStick.Y", 1.0));
    assert_eq!(is(&Bridge::unreal(), "Gamepad_RightY", 1.0), ("Gamepad.RightStick.Y", 1.0));
    assert_eq!(is(&Bridge::sdl(), "SDL_GAMEPAD_AXIS_RIGHTY", 32767.0), ("Gamepad.RightStick.Y", -1.0));
    assert_eq!(is(&Bridge::sdl(), "SDL_GAMEPAD_AXIS_LEFT_TRIGGER", 32767.0), ("Gamepad.LeftTrigger", 1.0));
    assert_eq!(is(&Bridge::web(), "deltaY", 100.0), ("Mouse.Scroll", -1.0));
    let (code, value) = Bridge::winit().translate("MouseMotion", [3.0, 4.0, 0.0]).unwrap();
    assert_eq!((code.name(), value), (Some("Mouse.Axis"), [3.0, -4.0, 0.0]));
    assert_eq!(Bridge::winit().code("KeyW"), Bridge::sdl().code("SDL_SCANCODE_W"));
    assert_eq!(InputCode::named("Gamepad.LeftStick").unwrap().shape(), Shape::Axis2D);
}

#[test]
fn a_custom_device_presses_and_moves() {
    let text = "Kind: input_action\nName: Gas\nValueType: Axis1D\n---\nKind: input_action\nName: Horn\nValueType: Digital\n\
---\nKind: input_action_set\nName: Drive\nActions: [Gas, Horn]\n---\nKind: input_mapping\nActionSet: Drive\nBindings:\n\
  - {Action: Gas, Inputs: [{Device: Custom, CustomDeviceName: Wheel, Input: Wheel.Pedal}]}\n\
  - {Action: Horn, Inputs: [{Device: Custom, CustomDeviceName: Wheel, Input: Wheel.Horn}]}\n";
    let mut rig = Rig::new(text);
    let mut take = |input: &str, value: f64| {
        let input = InputCode::custom("Wheel", input);
        rig.seat.take(DeviceEvent { at: SimTime::millis(1), device: DeviceId(0), input, value: [value, 0.0, 0.0] });
    };
    take("Wheel.Pedal", 0.25);
    take("Wheel.Horn", 1.0);
    assert_eq!(rig.step(16), ["1 Press Horn"]);
    assert_eq!(rig.values("Gas"), [[0.25, 0.0, 0.0]]);
    let horn = rig.controls.bindings_for("Horn").remove(0);
    assert_eq!(horn.inputs[0].custom_device_name.as_deref(), Some("Wheel"));
}
