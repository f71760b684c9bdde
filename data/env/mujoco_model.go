package env

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// compiling serialises compilation: MuJoCo stores the last parsed model in a global variable.
var compiling sync.Mutex

// mainFile is the file name of the model among its assets.
const mainFile = "main.xml"

// simulate starts a simulation of MJCF, MuJoCo's XML, in its default state. Assets are the files that it includes or
// refers to, such as meshes, by their paths relative to it. No file is read from the disk.
func (l *library) simulate(xml []byte, assets map[string][]byte) (*simulation, error) {
	model, err := l.compile(xml, assets)
	if err != nil {
		return nil, err
	}
	defer func() { call(l.fn["mj_deleteModel"], model) }() // the simulation has its own copy
	return l.start(model)
}

// compile returns the address of a model, mjModel*.
func (l *library) compile(xml []byte, assets map[string][]byte) (model uintptr, err error) {
	compiling.Lock()
	defer compiling.Unlock()
	defer guard(&err, "compiling a model")

	files := new([8]uintptr) // mjVFS, which is one pointer
	call(l.fn["mj_defaultVFS"], uintptr(unsafe.Pointer(files)))
	defer func() { call(l.fn["mj_deleteVFS"], uintptr(unsafe.Pointer(files))) }()
	if err := l.addFile(files, mainFile, xml); err != nil {
		return 0, err
	}
	for name, data := range assets {
		if err := l.addFile(files, name, data); err != nil {
			return 0, err
		}
	}
	name, message := cString(mainFile), make([]byte, 1024)
	model = call(l.fn["mj_loadXML"], uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(files)),
		uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)))
	if model == 0 {
		return 0, fmt.Errorf("MuJoCo cannot compile the model: %s", oneLine(untilZero(message)))
	}
	return model, nil
}

// addFile adds a file to MuJoCo's virtual file system.
func (l *library) addFile(files *[8]uintptr, name string, data []byte) error {
	if len(data) == 0 {
		return fmt.Errorf("the model file %s is empty", name)
	}
	cName := cString(name)
	if r := int32(call(l.fn["mj_addBufferVFS"], uintptr(unsafe.Pointer(files)), uintptr(unsafe.Pointer(&cName[0])),
		uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)))); r != 0 {
		return fmt.Errorf("MuJoCo rejects the model file %s (code %d): check whether its name occurs twice", name, r)
	}
	return nil
}

// oneLine returns s without line breaks: MuJoCo's messages may have several lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
