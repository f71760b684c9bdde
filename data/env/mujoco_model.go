package env

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// mjModel is a compiled model. It is safe for concurrent use until Close.
type mjModel struct {
	lib     *library
	address uintptr // mjModel*
}

// compiling serialises compilation: MuJoCo stores the last parsed model in a global variable.
var compiling sync.Mutex

// mainFile is the file name of the model among its assets.
const mainFile = "main.xml"

// compile makes a model from MJCF, MuJoCo's XML. Assets are the files that it includes or refers to, such
// as meshes, by their paths relative to it. No file is read from the disk.
func (l *library) compile(xml []byte, assets map[string][]byte) (m *mjModel, err error) {
	compiling.Lock()
	defer compiling.Unlock()
	defer guard(&err, "compiling a model")

	files := new([8]uintptr) // mjVFS, which is one pointer
	call(l.fn["mj_defaultVFS"], uintptr(unsafe.Pointer(files)))
	defer func() { call(l.fn["mj_deleteVFS"], uintptr(unsafe.Pointer(files))) }()
	if err := l.addFile(files, mainFile, xml); err != nil {
		return nil, err
	}
	for name, data := range assets {
		if err := l.addFile(files, name, data); err != nil {
			return nil, err
		}
	}
	name, message := cString(mainFile), make([]byte, 1024)
	address := call(l.fn["mj_loadXML"], uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(files)),
		uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)))
	if address == 0 {
		return nil, fmt.Errorf("MuJoCo cannot compile the model: %s", oneLine(untilZero(message)))
	}
	return &mjModel{lib: l, address: address}, nil
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

// Close frees the model. Its simulations stay valid: each has its own copy.
func (m *mjModel) Close() {
	call(m.lib.fn["mj_deleteModel"], m.address)
	m.address = 0
}

// oneLine returns s without line breaks: MuJoCo's messages may have several lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
